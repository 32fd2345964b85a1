import type { OptionSchemas } from '../../protocol/checks/optionsCheck.ts'
import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { brakingPart, type BrakingOption } from '../define/brakingOptions.ts'
import { compactionPart, type CompactionOption } from '../define/compactionOptions.ts'
import { hooksPart, type HookOptions } from '../define/hooks.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import type { ToolSource } from '../tools/toolSource.ts'
import type { AgentPart } from './agentPart.ts'
import { backgroundPart } from './background/backgroundPart.ts'
import type { ArtifactOption } from './artifacts/artifactOptions.ts'
import { artifactPart } from './artifacts/artifactPart.ts'
import { deferredPart } from './deferred/deferredPart.ts'
import type { MemoryOption } from './memory/memoryOptions.ts'
import { memoryPart } from './memory/memoryPart.ts'
import type { PermissionOption } from './permissions/permissionOptions.ts'
import { permissionsPart } from './permissions/permissionsPart.ts'
import { skillPart, type SkillOption } from './skills/skillPart.ts'
import type { StateOption } from './state/stateOptions.ts'
import { statePart } from './state/statePart.ts'

export interface PartOptions<Deps, State>
  extends
    SkillOption,
    CompactionOption,
    BrakingOption,
    MemoryOption<Deps>,
    ArtifactOption,
    PermissionOption,
    HookOptions<Deps>,
    StateOption<State> {}

/** All parts that an agent may have, in the order of their tools. */
export const parts: readonly AgentPart[] = [
  deferredPart,
  backgroundPart,
  skillPart,
  memoryPart,
  artifactPart,
  permissionsPart,
  brakingPart,
  compactionPart,
  hooksPart,
  statePart,
]

export const partSchemas = Object.assign({}, ...parts.map(({ options }) => options)) as OptionSchemas

/** The parts of one definition. */
interface Equipment {
  readonly settings: Pick<
    AgentDefinition,
    'memory' | 'artifacts' | 'deferred' | 'permissions' | 'braking' | 'compaction' | 'hooks' | 'guards' | 'state'
  >
  readonly tools: readonly (AnyTool | ToolSource)[]
  readonly flags: AgentPolicy['flags']
}

/** Reads the options of all parts of a definition. @throws RuntimeError `INVALID_DEFINITION` */
export function equip(options: object, label: string): Equipment {
  const read = parts.map((part) => ({ part, settings: part.settings(options, label) }))
  return {
    settings: Object.assign({}, ...read.map(({ settings }) => settings)) as Equipment['settings'],
    tools: read.flatMap(({ part, settings }) => part.tools?.(options, settings) ?? []),
    flags: Object.assign(
      {},
      ...read.map(({ part, settings }) => part.flags?.(options, settings)),
    ) as Equipment['flags'],
  }
}
