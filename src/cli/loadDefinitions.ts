import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isAgentDefinition, type AgentDefinition } from '../actors/agentDefinition.ts'
import { messageOf, RuntimeError } from '../protocol/errors.ts'

/** A clearer message than the loader's for a file that cannot be a module. */
function wrongFile(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'does not exist: give the path of a module, such as ./agents.ts'
  if (found.isDirectory()) return 'is a folder: give the path of a module in it, such as ./agents.ts'
  return extname(path) === '.json' ? 'is JSON: give the path of a module, such as ./agents.ts' : undefined
}

/**
 * The agent definitions that a module exports, under any name or in lists.
 *
 * @throws RuntimeError `INVALID_OPTION` when it cannot be loaded, exports none, or two of one name.
 */
export async function loadDefinitions(file: string, cwd: string): Promise<AgentDefinition[]> {
  const path = resolve(cwd, file)
  const wrong = wrongFile(path)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `${path} ${wrong}.`)
  let exported: { readonly [name: string]: unknown }
  try {
    exported = (await import(pathToFileURL(path).href)) as { readonly [name: string]: unknown }
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `${path} could not be loaded: ${messageOf(thrown)}.`, { cause: thrown })
  }
  const definitions = [...new Set(Object.values(exported).flat())].filter(isAgentDefinition)
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `${path} exports two agents named "${twice}".`)
  if (definitions.length > 0) return definitions
  const seen = Object.keys(exported).join(', ') || 'nothing'
  throw new RuntimeError(
    'INVALID_OPTION',
    `${path} exports no agent: export what defineAgent returns (it exports: ${seen}).`,
  )
}
