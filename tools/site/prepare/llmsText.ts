import type { MenuGroup } from '../menu.ts'
import type { SitePage } from './sitePage.ts'

/** The text of `llms.txt`: every page of the menu with its address and what it is about, for models that look something up. Pure. */
export function llmsText(menu: readonly MenuGroup[], pages: readonly SitePage[], base: string): string {
  const bySlug = new Map(pages.map((page) => [page.slug, page]))
  const groups = menu.flatMap(({ label, pages: listed }) => {
    const lines = listed.flatMap((entry) => {
      const page = bySlug.get(typeof entry === 'string' ? entry : entry[0])
      return page === undefined || page.slug === ''
        ? []
        : [`- [${page.title}](${base}${page.slug}/): ${page.description.replaceAll(/\s+/g, ' ')}`]
    })
    return lines.length === 0 ? [] : [`## ${label}\n\n${lines.join('\n')}`]
  })
  const about = bySlug.get('')?.description.replaceAll(/\s+/g, ' ')
  return `# escapement\n\n${about === undefined ? '' : `> ${about}\n\n`}${groups.join('\n\n')}\n`
}
