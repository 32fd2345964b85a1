// Bundlers look for `new URL(…, import.meta.url)` and try to include the file they think it names: hence not spelt that way.
const here = import.meta.url as string | undefined
const ownPlace = /(?:packages\/charts\/src|dist\/chunks)\/packageFile\.([jt]s)$/

/** Returns the address of a file of this package, by its path in it; `undefined` in a bundle, which leaves the files of the package behind. */
export function packageFile(path: string): URL | undefined {
  const place = ownPlace.exec(here ?? '')
  return place === null ? undefined : new URL(here!.slice(0, place.index) + path)
}

/** Returns the address of a compiled file, by its path in `dist`; in the repository, which need not be compiled, that of its source. */
export function codeFile(path: string, source: string): URL | undefined {
  const isSource = ownPlace.exec(here ?? '')?.[1] === 'ts'
  return packageFile(isSource ? source : `dist/${path}`)
}
