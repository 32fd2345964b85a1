import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { figure } from './figure.ts'
import { linkTarget, pictureFrom, slugOf } from './slugs.ts'

const image = /!\[([^\]]*)\]\(([^)\s]+\.(?:svg|png|webp))\)/g

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
    if (!name.endsWith('.svg')) made.set(whole, screenshot(root, slug, { alt, file }))
    else made.set(whole, figure(await readFile(join(root, file), 'utf8'), { alt, name: posix.basename(name, '.svg') }))
  }
  return markdown.replaceAll(image, (whole) => made.get(whole) ?? whole)
}

/** A screenshot; in the scheme of the page, where there is one of each. */
function screenshot(
  root: string,
  slug: string,
  { alt, file }: { readonly alt: string; readonly file: string },
): string {
  const text = alt.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const tag = (path: string, kind: string): string =>
    `<img class="screenshot${kind}" src="${pictureFrom(slug, path)}" alt="${text}" loading="lazy" />`
  const dark = file.replace(/(\.\w+)$/, '-dark$1')
  return existsSync(join(root, dark)) ? `${tag(file, ' of-light')}${tag(dark, ' of-dark')}` : tag(file, '')
}
