import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

/** Options that keep apt from waiting for a network that is not there. */
const impatience = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::https::Timeout=15']
const mostMs = 300_000

/** Tells whether packages can be installed without asking a person: by root, on Debian and systems derived from it. */
export const canAptInstall = (): boolean =>
  process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')

let last: Promise<unknown> = Promise.resolve()

/** Installs a package; one after the other, as apt refuses a second. Rejects when apt does. */
export function aptInstall(name: string): Promise<void> {
  const install = async (): Promise<void> => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const options = { env, signal: AbortSignal.timeout(mostMs), maxBuffer: 64 * 1024 * 1024 }
    const aptGet = (...args: readonly string[]) => promisify(execFile)('apt-get', [...impatience, ...args], options)
    const get = () => aptGet('install', '-y', '--no-install-recommends', name)
    await get().catch(async () => {
      // Its lists may be missing or old.
      await aptGet('update')
      await get()
    })
  }
  const done = last.then(install)
  last = done.catch(() => {})
  return done
}
