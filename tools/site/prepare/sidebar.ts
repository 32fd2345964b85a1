import type { MenuGroup } from '../menu.ts'
import type { SitePage } from './sitePage.ts'

/** A group of Starlight's `sidebar`. */
export interface SidebarGroup {
  readonly label: string
  readonly collapsed: boolean
  readonly items: readonly ({ readonly label: string; readonly link: string } | SidebarGroup)[]
}

/** Tells whether the menu of a version has to name a page; pages that others lead to are left out. */
export const isListed = ({ slug, isSource }: SitePage): boolean =>
  isSource !== true && !/^(?:decisions|upstream)\b/.test(slug) && !/^api\/[^/]+\//.test(slug)

/** The menu of a version: of the pages that it has, with what the menu does not know at its end. Pure. */
export function sidebarOf(menu: readonly MenuGroup[], pages: readonly SitePage[]): readonly SidebarGroup[] {
  const bySlug = new Map(pages.filter(isListed).map((page) => [page.slug, page]))
  const doors = pages.filter(({ slug }) => /^api\/[^/]+$/.test(slug))
  const api = {
    label: 'API by module',
    collapsed: true,
    items: [item('api', 'All modules'), ...doors.map(({ slug, title }) => item(slug, title))],
  }
  const groups = menu.map(({ label, pages: listed, isClosed = false }): SidebarGroup => {
    const items = listed.flatMap((entry) => {
      const [slug, own] = typeof entry === 'string' ? [entry] : entry
      const page = bySlug.get(slug)
      return page === undefined ? [] : [item(slug, own ?? page.title)]
    })
    return { label, collapsed: isClosed, items }
  })
  const unlisted = unlistedIn(menu, pages).map((slug) => item(slug, bySlug.get(slug)!.title))
  return [
    ...groups,
    ...(doors.length === 0 ? [] : [api]),
    ...(unlisted.length === 0 ? [] : [{ label: 'More', collapsed: false, items: unlisted }]),
  ].filter(({ items }) => items.length > 0)
}

/** Slugs of pages that a menu should name and does not. Pure. */
export function unlistedIn(menu: readonly MenuGroup[], pages: readonly SitePage[]): readonly string[] {
  const listed = new Set(
    menu.flatMap((group) => group.pages.map((entry) => (typeof entry === 'string' ? entry : entry[0]))),
  )
  const isDoor = (slug: string): boolean => /^api\/[^/]+$/.test(slug)
  return pages.filter(isListed).flatMap(({ slug }) => (listed.has(slug) || isDoor(slug) ? [] : [slug]))
}

const item = (slug: string, label: string) => ({ label, link: slug === '' ? '/' : `/${slug}/` })
