import { spawnSync } from 'node:child_process'
import { aptInstall, canAptInstall } from '../../../test/support/aptInstall.ts'
import type { Provision } from '../../../test/support/setUp.ts'

/** Debian has it where only root looks. */
const places = ['haproxy', '/usr/sbin/haproxy']

/** The program of the balancer; `undefined`: it is not here. */
export const findHaproxy = (): string | undefined => places.find((place) => spawnSync(place, ['-v']).status === 0)

export const howToInstall = 'install it (apt-get install haproxy)'

/** The balancer whose settings are in the package. */
export const haproxy: Provision = {
  name: 'HAProxy',
  door: 'packages/cli/test/haproxy.ts',
  isThere: () => findHaproxy() !== undefined,
  way: () => (canAptInstall() ? 'by apt-get' : undefined),
  async install() {
    await aptInstall('haproxy')
    if (findHaproxy() === undefined) throw new Error('apt-get has installed no HAProxy')
  },
  advice: howToInstall,
}
