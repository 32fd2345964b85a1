// Bundlers look for `new URL(…, import.meta.url)` and try to include the file they think it names: hence not spelt that way.
const here = import.meta.url as string | undefined
const ownPlace = /(?:packages\/charts\/src|dist\/chunks)\/packageFile\.([jt]s)$/

/** Returns the URL of a file of this package, by its path in the package. `undefined` in a bundle, which does not contain the package's files. */
export function packageFile(path: string): URL | undefined {
  const place = ownPlace.exec(here ?? '')
  return place === null ? undefined : new URL(here!.slice(0, place.index) + path)
}

/** Returns the URL of a compiled file, by its path in `dist`. In the repository, which need not be compiled, the URL of its source. */
export function codeFile(path: string, source: string): URL | undefined {
  const isSource = ownPlace.exec(here ?? '')?.[1] === 'ts'
  return packageFile(isSource ? source : `dist/${path}`)
}
