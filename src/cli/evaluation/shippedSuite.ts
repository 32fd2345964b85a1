import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../charts/packageFile.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { nearestWord } from '../../protocol/nearestWord.ts'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Where the suites of this package are: built ones in `dist`, in the repository their sources. */
function shippedFolder(): string | undefined {
  const places = ['dist/suites', 'suites'].flatMap((path) => {
    const url = packageFile(path)
    return url?.protocol === 'file:' ? [fileURLToPath(url)] : []
  })
  // The sources are newer than what was built of them.
  return places.toReversed().find(isFolder)
}

/** Names of the suites that come with this package. */
export function shippedSuites(): readonly string[] {
  const folder = shippedFolder()
  if (folder === undefined) return []
  return readdirSync(folder).filter((name) => ['suite.ts', 'suite.js'].some((file) => isFile(join(folder, name, file))))
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/**
 * The folder that a suite is read from: the one that is named, else, for a word, the suite of this name that comes with the package.
 *
 * @throws RuntimeError `INVALID_OPTION` for a word that names neither.
 */
export function suiteFolder(path: string, cwd: string): string {
  const folder = resolve(cwd, path)
  if (/[/\\]|^\.+$/.test(path) || isFolder(folder)) return folder
  const names = shippedSuites()
  if (names.includes(path)) return join(shippedFolder()!, path)
  const nearest = nearestWord(path, names)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  const there = names.length === 0 ? '' : ` Suites of this package: ${names.join(', ')}.`
  throw new RuntimeError('INVALID_OPTION', `There is no folder ${folder}, and no suite "${path}".${hint}${there}`)
}
