import { resolve } from 'node:path'
import { isAgentDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostDefinition } from '../../../xstate/src/hosts/hostTypes.ts'
import { importModule } from '../../../tools/src/userFiles/importModule.ts'

/**
 * Returns the agent definitions that a module exports, under any name or in lists.
 *
 * @throws RuntimeError `INVALID_OPTION` when it cannot be loaded, exports none, or two of one name.
 */
export async function loadDefinitions(file: string, cwd: string): Promise<AgentDefinition[]> {
  return (await load(file, cwd, () => [])).definitions
}

/** Returns the agents and machines that a module exports; either may be missing. Rejects as `loadDefinitions`, also if two machines share a name. */
export async function loadWakeable(
  file: string,
  cwd: string,
): Promise<{ readonly definitions: AgentDefinition[]; readonly machines: HostDefinition[] }> {
  const { isHostDefinition } = await import('../../../xstate/src/hosts/defineHost.ts')
  return await load(file, cwd, (values) => values.filter(isHostDefinition))
}

async function load<T extends { readonly name: string }>(
  file: string,
  cwd: string,
  machinesIn: (values: readonly unknown[]) => T[],
): Promise<{ readonly definitions: AgentDefinition[]; readonly machines: T[] }> {
  const path = resolve(cwd, file)
  const exported = await importModule(path)
  const values = [...new Set(Object.values(exported).flat())]
  const definitions = values.filter(isAgentDefinition)
  const machines = machinesIn(values)
  checkNames(definitions, `${path} exports`)
  checkNames(machines, `${path} exports`, 'machines')
  if (definitions.length + machines.length > 0) return { definitions, machines }
  const seen = Object.keys(exported).join(', ') || 'nothing'
  throw new RuntimeError(
    'INVALID_OPTION',
    `${path} exports no agent: export what defineAgent returns (it exports: ${seen}).`,
  )
}

/** Checks that names are unique. `who`: the owner in the message. @throws RuntimeError `INVALID_OPTION` when two have the same name */
export function checkNames(definitions: readonly { readonly name: string }[], who: string, what = 'agents'): void {
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `${who} two ${what} named "${twice}".`)
}
