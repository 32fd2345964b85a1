import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isCi } from '../../../../test/support/suite.ts'
import type { Provision } from '../../../../test/support/setUp.ts'

const version = '1.7.12'
/** The program for this machine alone: the package that chooses among them reports its installation to a third party. */
const name = `@restatedev/restate-server-${process.platform}-${process.arch}`

/** 220 MB, so it is kept for all checkouts. */
const folder = (env: NodeJS.ProcessEnv): string => {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return join(cache, 'escapement', `restate-server-${version}`)
}

/** The program of the Restate server; `undefined`: it is not here. */
export function findRestate(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const program = join(folder(env), 'node_modules', ...name.split('/'), 'bin', 'restate-server')
  return existsSync(program) ? program : undefined
}

export const howToInstall = 'let npm fetch it once, 220 MB (RESTATE=1 npm test)'

/** The engine that tests of `escapement/restate` need: fetched by npm where that was asked for, or where nothing may be skipped. */
export const restate: Provision = {
  name: 'The Restate server',
  door: 'packages/cluster/test/restate/withEngine.ts',
  isThere: () => findRestate() !== undefined,
  way: () => (isCi() || process.env['RESTATE'] !== undefined ? 'by npm' : undefined),
  async install() {
    const into = folder(process.env)
    await mkdir(into, { recursive: true })
    await writeFile(join(into, 'package.json'), '{"private":true}\n')
    await promisify(execFile)(
      'npm',
      ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`],
      {
        cwd: into,
      },
    )
    if (findRestate() === undefined) throw new Error(`npm has installed no ${name}`)
  },
  advice: howToInstall,
}
