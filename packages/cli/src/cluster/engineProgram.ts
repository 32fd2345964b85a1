import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** Name of the package with the program for this machine only. The package that chooses among them reports its installation to a third party. */
export const enginePackage = `@restatedev/restate-server-${process.platform}-${process.arch}`

/**
 * Returns the path of the Restate server's program: the named one, or else that of its npm package in the application or beside this package.
 *
 * @throws RuntimeError `INVALID_OPTION`, `PACKAGE_MISSING` with the package to install
 */
export function engineProgram(named: string | undefined, folder: string): string {
  if (named !== undefined) {
    const program = resolve(folder, named)
    if (existsSync(program)) return program
    throw new RuntimeError('INVALID_OPTION', `--engine "${named}" is no program.`)
  }
  for (const from of [join(folder, 'package.json'), import.meta.url]) {
    const own = packageFolder(enginePackage, from) ?? packageFolder('@restatedev/restate-server', from)
    const program = own === undefined ? undefined : join(own, 'bin', 'restate-server')
    if (program !== undefined && existsSync(program)) return program
  }
  const isThere = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(
    `${process.platform}-${process.arch}`,
  )
  throw new RuntimeError(
    'PACKAGE_MISSING',
    isThere
      ? `"cluster" needs the Restate server, which is not installed: npm install --save-dev ${enginePackage}, or name the program with --engine.`
      : `"cluster" needs the Restate server, and there is none for ${process.platform}-${process.arch}: run it in a container and start workers with "escapement worker".`,
  )
}

function packageFolder(name: string, from: string): string | undefined {
  try {
    return dirname(createRequire(from).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}
