import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'

/** Creates the folder for logs, with a .gitignore that covers all of it. @throws RuntimeError `STORE_OPEN_FAILED` */
export function recordFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true })
    if (!existsSync(`${folder}/.gitignore`)) writeFileSync(`${folder}/.gitignore`, '*\n')
  } catch (thrown) {
    throw new RuntimeError(
      'STORE_OPEN_FAILED',
      `The conversation cannot be recorded in ${folder}: ${messageOf(thrown)}.`,
      { cause: thrown },
    )
  }
  return folder
}
