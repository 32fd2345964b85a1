import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { figure } from './figure.ts'
import { linkTarget } from './slugs.ts'

const image = /!\[([^\]]*)\]\(([^)\s]+\.svg)\)/g

/**
 * Puts the pictures of a page into it, so that they follow the scheme that the reader chose, and their tooltips work.
 *
 * @throws Error when one is not there.
 */
export async function withPictures(root: string, path: string, markdown: string): Promise<string> {
  const made = new Map<string, string>()
  for (const { 0: whole, 1: alt = '', 2: link = '' } of markdown.matchAll(image)) {
    const file = linkTarget(path, link).path
    const svg = await readFile(join(root, file), 'utf8').catch((thrown: unknown) => {
      throw new Error(`${path} shows ${link}, which cannot be read`, { cause: thrown })
    })
    made.set(whole, figure(svg, { alt, name: posix.basename(file, '.svg') }))
  }
  return markdown.replaceAll(image, (whole) => made.get(whole) ?? whole)
}
