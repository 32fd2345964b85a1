import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeFile } from '../../../charts/src/packageFile.ts'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Returns the folder of this package's suites: built ones in `dist`, or their sources in the repository. */
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

/** Returns the folder of a suite: the given one, else, for a plain word, the suite of this name in the package. */
export function suiteFolder(path: string, cwd: string): string {
  if (/[/\\]|^\.+$/.test(path) || isFolder(resolve(cwd, path))) return path
  return shippedSuites().includes(path) ? join(shippedFolder()!, path) : path
}
