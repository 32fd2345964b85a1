/** A file of a tarball, as `npm pack --json` lists it. */
export interface PackedFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
}

/** A tarball, as `npm pack --json` describes it. */
export interface Tarball {
  readonly filename: string
  /** Bytes of the tarball. */
  readonly size: number
  /** Bytes of what is in it. */
  readonly unpackedSize: number
  readonly files: readonly PackedFile[]
}

/** Most bytes of the downloads: raise one if it is worth it, and say so in the commit. */
export const sizeBudget = {
  tarball: 2_690_000,
  unpacked: 9_430_000,
  files: 312,
} as const

const mostOf: Readonly<Record<keyof typeof sizeBudget, (tarball: Tarball) => number>> = {
  tarball: ({ size }) => size,
  unpacked: ({ unpackedSize }) => unpackedSize,
  files: ({ files }) => files.length,
}

/** Files that each tarball must have besides its doors. */
const wanted = ['package.json', 'README.md', 'LICENSE', 'THIRD-PARTY-NOTICES', 'dist/cli.js']

/** Files that no tarball may have: sources and tests, files derived from others, secrets, and files of one machine. */
const unwanted =
  /^(src|test|tools|examples|scripts|suites|node_modules|docs\/decisions)\/|\.(?:map|br|gz)$|(^|\/)(\.env[^/]*|\.npmrc|\.DS_Store|\.escapement)(\/|$)|\.tsbuildinfo$/

/** Faults of a tarball of the package; empty: none. `manifest` is its package.json. Pure. */
export function wrongInTarball(
  tarball: Tarball,
  manifest: { readonly exports: Readonly<Record<string, unknown>>; readonly publishConfig?: object },
): readonly string[] {
  const paths = new Set(tarball.files.map(({ path }) => path))
  const doors = Object.values(manifest.exports).flatMap(targetsOf)
  const missing = [...new Set([...wanted, ...doors])].filter((path) => !paths.has(path))
  const tooMuch = [...paths].filter((path) => unwanted.test(path))
  const empty = tarball.files.filter(({ path, size }) => path === 'THIRD-PARTY-NOTICES' && size < 1_000)
  const large = Object.entries(sizeBudget).flatMap(([name, most]) => {
    const seen = mostOf[name as keyof typeof sizeBudget](tarball)
    return seen > most ? [`${name} is ${seen}, above its budget of ${most} (tools/release/releaseTarball.ts).`] : []
  })
  const { provenance, access } = (manifest.publishConfig ?? {}) as { provenance?: unknown; access?: unknown }
  return [
    ...missing.map((path) => `${path} is missing.`),
    ...tooMuch.map((path) => `${path} does not belong in it.`),
    ...empty.map(({ path }) => `${path} names no package.`),
    ...large,
    ...(provenance === true && access === 'public'
      ? []
      : ['package.json needs "publishConfig": { "access": "public", "provenance": true }.']),
  ]
}

/** Most bytes of the download that starts projects. */
const mostOfStarter = 200_000

/** Faults of a tarball of the package that starts projects; empty: none. Pure. */
export function wrongInStarter(
  { files, size }: Tarball,
  { bin = {} }: { readonly bin?: Readonly<Record<string, string>> },
): readonly string[] {
  const paths = new Set(files.map(({ path }) => path))
  const missing = ['package.json', 'README.md', 'LICENSE', ...Object.values(bin)].filter((path) => !paths.has(path))
  return [
    ...missing.map((path) => `${path} is missing from the starter.`),
    ...(size > mostOfStarter ? [`The starter has ${size} bytes, above its budget of ${mostOfStarter}.`] : []),
  ]
}

/** Files that a condition of `exports` leads to, without `./`. */
function targetsOf(target: unknown): readonly string[] {
  if (typeof target === 'string') return [target.replace(/^\.\//, '')]
  return typeof target === 'object' && target !== null ? Object.values(target).flatMap(targetsOf) : []
}
