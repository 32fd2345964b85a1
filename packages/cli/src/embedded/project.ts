import { posix } from 'node:path'

const sourceFile = /\.[cm]?[jt]sx?$/
const testFile =
  /(?:^|\/)(?:tests?|__tests__|specs?)\/|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)test[\w-]*\.[cm]?[jt]sx?$/
const imports = /(?:\bfrom\s*|\bimport\s*(?:\(\s*)?|\brequire\s*\(\s*)(['"])(\.{1,2}\/[^'"\n]*)\1/g
const endings = ['', '.js', '.ts', '.mjs', '.cjs', '.jsx', '.tsx', '.mts', '.cts', '/index.js', '/index.ts']

/** Returns true if a path is JavaScript or TypeScript. */
export const isSource = (path: string): boolean => sourceFile.test(path)

/** Returns true if a file is a test, by its name or because the test command names it; tests are never edited. */
export const isTest = (path: string, command: string): boolean =>
  isSource(path) && (testFile.test(path) || command.split(/\s+/).some((word) => posix.normalize(word) === path))

/** Returns the project files that a file imports by relative paths, in order. */
export function importedFiles(path: string, source: string, listing: readonly string[]): string[] {
  const known = new Set(listing)
  const found: string[] = []
  for (const [, , specifier] of source.matchAll(imports)) {
    const base = posix.join(posix.dirname(path), specifier!)
    const swapped = base.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')
    const file = [...endings.map((ending) => base + ending), swapped].find((candidate) => known.has(candidate))
    if (file !== undefined && isSource(file) && !found.includes(file)) found.push(file)
  }
  return found
}

/** Returns the listed file for an absolute or relative path in an error message. */
export const listedFile = (path: string, listing: readonly string[]): string | undefined =>
  listing
    .filter((file) => path === file || path.endsWith(`/${file}`))
    .toSorted((a, b) => b.length - a.length)
    .at(0)

/** Returns the command that runs a project's tests: the `test` script, run directly if it is plain `node`, or else Node's test runner. */
export function testCommandOf(listing: readonly string[], manifest: string | undefined): string | undefined {
  const script = testScript(manifest)
  if (script !== undefined) {
    // One process less, and no header of npm's in the output.
    return /^node [^&|;<>$`]*$/.test(script.test) && !script.hasHooks ? script.test : 'npm test --silent'
  }
  const tests = listing.filter((path) => isTest(path, '') && /\.[cm]?[jt]s$/.test(path))
  return tests.length === 0 ? undefined : 'node --test'
}

function testScript(manifest: string | undefined): { test: string; hasHooks: boolean } | undefined {
  if (manifest === undefined) return undefined
  try {
    const { scripts = {} } = JSON.parse(manifest) as { scripts?: Record<string, unknown> }
    const { test, pretest, posttest } = scripts
    if (typeof test !== 'string' || test.trim() === '' || test.includes('no test specified')) return undefined
    return { test: test.trim(), hasHooks: pretest !== undefined || posttest !== undefined }
  } catch {
    return undefined
  }
}
