import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { figure } from './figure.ts'
import { linkTarget, pictureFrom, slugOf } from './slugs.ts'

const image = /!\[([^\]]*)\]\(([^)\s]+\.(?:svg|png))\)/g

/**
 * Puts the drawings of a page into it, so that they follow the scheme that the reader chose, and their tooltips work. Screenshots
 * stay files. `slug`: where the page stands, if its path does not say so.
 *
 * @throws Error when one is not there.
 */
export async function withPictures(root: string, path: string, markdown: string, slug = slugOf(path)): Promise<string> {
  const made = new Map<string, string>()
  for (const { 0: whole, 1: alt = '', 2: link = '' } of markdown.matchAll(image)) {
    const file = linkTarget(path, link).path
    if (!existsSync(join(root, file))) throw new Error(`${path} shows ${link}, which cannot be read`)
    const name = posix.basename(file)
    if (name.endsWith('.png')) made.set(whole, screenshot(alt, pictureFrom(slug, file)))
    else made.set(whole, figure(await readFile(join(root, file), 'utf8'), { alt, name: posix.basename(name, '.svg') }))
  }
  return markdown.replaceAll(image, (whole) => made.get(whole) ?? whole)
}

const screenshot = (alt: string, address: string): string =>
  `<img src="${address}" alt="${alt.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" loading="lazy" />`
