import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The shell has no windows to draw, and needs half the processor time.
const shells = ['chromium-headless-shell', 'chrome-headless-shell', 'headless_shell']
const names = [...shells, 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'msedge']
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
