import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { aptInstall, canAptInstall } from '../../../test/support/aptInstall.ts'
import type { Provision } from '../../../test/support/setUp.ts'

/** Where Debian keeps the programs of a server, a folder for each version; they are not on its PATH. */
const debian = '/usr/lib/postgresql'

/** The folder with the programs of a PostgreSQL server, the newest; `undefined`: there is none. */
export function findPostgres({ PATH = '' }: NodeJS.ProcessEnv = process.env): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...PATH.split(delimiter), ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => folder !== '' && existsSync(join(folder, name))),
  )
}

export const howToInstall = 'install its server (apt-get install postgresql)'

/** The database that tests of `postgresStore` need; each process of tests starts a server of its own. */
export const postgres: Provision = {
  name: 'PostgreSQL',
  door: 'packages/postgres/test/postgres.ts',
  isThere: () => findPostgres() !== undefined,
  way: () => (canAptInstall() ? 'by apt-get' : undefined),
  async install() {
    await aptInstall('postgresql')
    if (findPostgres() === undefined) throw new Error('apt-get has installed no PostgreSQL')
  },
  advice: howToInstall,
}
