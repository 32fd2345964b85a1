import { posix } from 'node:path'

/** `inYourApplication` as it stands in an address: `in-your-application`. */
const kebab = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()

/** Where a file of the repository stands on the site, by its path: `docs/agUi.md` at `ag-ui`, other files below `source`. Pure. */
export function slugOf(path: string): string {
  if (path === 'README.md') return ''
  // docs/security.md is about agents, this about those who found a hole.
  if (path === 'SECURITY.md') return 'security-policy'
  if (path === 'docs/decisions') return 'decisions'
  const page = /^(?:docs\/)?([\w/-]+)\.md$/.exec(path)?.[1]
  if (page !== undefined && (path.startsWith('docs/') || !page.includes('/'))) return kebab(page)
  return `source/${kebab(path).replaceAll('.', '-')}`
}

/** The address of one page as another one names it: relative, so that the site can stand at any place. Pure. */
export function addressFrom(slug: string, target: string): string {
  const up = slug === '' ? './' : '../'.repeat(slug.split('/').length)
  return target === '' ? up : `${up}${target}/`
}

/** The address of a picture of `docs/pictures`, which the site has as a file. Pure. */
export const pictureFrom = (slug: string, path: string): string =>
  `${addressFrom(slug, '')}${posix.relative('docs', path)}`

/** Target of a link in a file: a path in the repository, and the hash. */
export function linkTarget(path: string, link: string): { readonly path: string; readonly hash: string } {
  const [target = '', hash] = link.split('#')
  const whole = target === '' ? path : posix.join(posix.dirname(path), target)
  return { path: whole.replace(/\/$/, ''), hash: hash === undefined ? '' : `#${hash}` }
}
