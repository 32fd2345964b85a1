import { resolve } from 'node:path'
import { isAgentDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { importModule } from '../../../tools/src/userFiles/importModule.ts'

/**
 * The agent definitions that a module exports, under any name or in lists.
 *
 * @throws RuntimeError `INVALID_OPTION` when it cannot be loaded, exports none, or two of one name.
 */
export async function loadDefinitions(file: string, cwd: string): Promise<AgentDefinition[]> {
  const path = resolve(cwd, file)
  const exported = await importModule(path)
  const definitions = [...new Set(Object.values(exported).flat())].filter(isAgentDefinition)
  checkNames(definitions, `${path} exports`)
  if (definitions.length > 0) return definitions
  const seen = Object.keys(exported).join(', ') || 'nothing'
  throw new RuntimeError(
    'INVALID_OPTION',
    `${path} exports no agent: export what defineAgent returns (it exports: ${seen}).`,
  )
}

/** @throws RuntimeError `INVALID_OPTION` when two have the same name; `who` says whose they are. */
export function checkNames(definitions: readonly AgentDefinition[], who: string): void {
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `${who} two agents named "${twice}".`)
}
