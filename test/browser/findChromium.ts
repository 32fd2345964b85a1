import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'msedge']
const folders = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome']
const ofMac = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Where a Chromium is: the one the variable `CHROMIUM` names, or else the first of the usual places; `undefined`: nowhere. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { CHROMIUM: named, PATH: path = '' } = environment
  if (named !== undefined && named !== '') return isProgram(named) ? named : undefined
  const places = [...folders, ...path.split(delimiter).filter((folder) => folder !== '')]
  const programs = names.flatMap((name) => places.map((folder) => join(folder, name)))
  return [...programs, ...ofMac].find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether it can be installed here without asking anybody: by root, on Debian and its kin, unless `CHROMIUM` names another. */
export const canInstallChromium = ({ CHROMIUM: named = '' }: NodeJS.ProcessEnv = process.env): boolean =>
  named === '' && process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')

/** What to do where there is none, and it cannot be installed from here. */
export const howToInstall = 'install it (apt-get install chromium) or name a browser by CHROMIUM=/path/to/chrome'

/** Installs it by `apt-get`, and says so; gives its place. Rejects when that fails, or is aborted. */
export async function installChromium(signal: AbortSignal): Promise<string> {
  process.stdout.write('There is no Chromium here: installing it by apt-get.\n')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const run = promisify(execFile)
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { env, signal })
  await install().catch(async () => {
    // Its lists may be missing or old.
    await run('apt-get', ['update'], { env, signal })
    await install()
  })
  const found = findChromium()
  if (found === undefined) throw new Error(`apt-get has installed no Chromium: ${howToInstall}.`)
  return found
}
