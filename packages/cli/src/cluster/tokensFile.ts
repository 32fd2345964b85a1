import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Tokens } from '../../../bridge/src/server/roles.ts'

/** Maximum size of a tokens file, in bytes. */
const mostBytes = 16 * 1024 * 1024

/**
 * Reads tokens with their rights from a JSON file. The server checks them. Messages never quote a token.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export async function readTokens(path: string, cwd: string): Promise<Tokens> {
  const wrong = (why: string): RuntimeError => new RuntimeError('INVALID_OPTION', `--tokens ${path}: ${why}.`)
  let text: string
  try {
    text = await readFile(resolve(cwd, path), 'utf8')
  } catch (thrown) {
    throw wrong(messageOf(thrown))
  }
  if (text.length > mostBytes) throw wrong(`it is longer than ${mostBytes} bytes`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong('it is not JSON')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Tokens
  throw wrong('give an object of tokens, each with its role or { "role", "agents", "metadata" }')
}
