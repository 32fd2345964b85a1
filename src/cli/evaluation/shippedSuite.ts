import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeFile } from '../../charts/packageFile.ts'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Where the suites of this package are: built ones in `dist`, in the repository their sources. */
function shippedFolder(): string | undefined {
  const url = codeFile('suites', 'suites')
  const path = url?.protocol === 'file:' ? fileURLToPath(url) : undefined
  return path !== undefined && isFolder(path) ? path : undefined
}

/** Names of the suites that come with this package. */
export function shippedSuites(): readonly string[] {
  const folder = shippedFolder()
  if (folder === undefined) return []
  return readdirSync(folder).filter((name) => ['suite.ts', 'suite.js'].some((file) => isFile(join(folder, name, file))))
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The folder that a suite is read from: the one that is named, else, for a word, the suite of this name that comes with the package. */
export function suiteFolder(path: string, cwd: string): string {
  if (/[/\\]|^\.+$/.test(path) || isFolder(resolve(cwd, path))) return path
  return shippedSuites().includes(path) ? join(shippedFolder()!, path) : path
}
