import site from '../site.json'

/** A version of the documentation that is served beside the others. */
export interface ServedVersion {
  readonly name: string
  readonly label: string
  readonly isReleased: boolean
  /** The newest released one, or the only one. */
  readonly isNewest: boolean
  /** From the root of all versions: `` or `0.1.0/`. */
  readonly folder: string
  readonly slugs: readonly string[]
}

const { root, version, versions } = site as { root: string; version: string; versions: readonly ServedVersion[] }

/** The version of these pages. */
export const current = versions.find(({ name }) => name === version)!

/** The address of a page in another version; of its start page where it does not have it. */
export const addressIn = ({ folder, slugs }: ServedVersion, slug: string): string =>
  `${root}${folder}${slug !== '' && slugs.includes(slug) ? `${slug}/` : ''}`

export { versions }
export const newest = versions.find(({ isNewest }) => isNewest)!
