import type { PermissionMode } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { decideCall, refused, strictest, type JudgedCall, type RuleLists, type Ruling } from './decideCall.ts'
import { suggestRules } from './suggestRules.ts'

/** What holds for the calls of one agent: its definition's rules, and what people said. */
export interface PermissionLayer extends Omit<RuleLists, 'granted'> {
  readonly mode: PermissionMode
  /** Rules of people that allow. */
  readonly granted: RuleLists['granted']
}

/** An agent's own layers and those of the agents above it, which hold for its calls too. */
export interface AgentPermissions {
  readonly layers: readonly PermissionLayer[]
}

/** Place of a call in the permissions of its agent. */
interface Judging {
  readonly definition: Pick<AgentDefinition, 'tools' | 'agents'>
  readonly permissions?: AgentPermissions | undefined
}

interface Call {
  readonly name: string
  readonly input: unknown
}

/** The rule that the records of a call name if nothing was to be decided about it. */
export const unjudged = 'none'

/**
 * Decides about a call by the permissions of its agent and of those above it; `undefined` if there are none. The arguments must fit. Pure, but for the functions
 * of the application that rules and tools have.
 */
export function judgeCall({ definition, permissions }: Judging, call: Call): Ruling | undefined {
  if (permissions === undefined) return undefined
  const { layers } = permissions
  const judged = judgedCall(definition, call)
  // A person who was asked was asked on behalf of all.
  const granted = layers.flatMap((layer) => layer.granted)
  return strictest(layers.map((layer) => decideCall({ ...layer, granted }, layer.mode, judged)))
}

/** Returns the decision about a call that its tool wants approved. */
export const whenAsked = ({ permissions }: Judging, ruling: Ruling): Ruling =>
  permissions?.layers.some(({ mode }) => mode === 'refuse') === true ? refused(ruling.rule) : { ...ruling, type: 'ask' }

/** Returns rules that would allow a call, the narrowest first. */
export const suggestionsFor = ({ definition }: Judging, call: Call): readonly string[] =>
  suggestRules(judgedCall(definition, call))

function judgedCall({ tools, agents }: Judging['definition'], { name, input }: Call): JudgedCall {
  const tool = tools.get(name)
  if (agents.has(name) || tool === undefined) return { name, input, effects: 'agent' }
  const { effects, subject } = tool
  if (subject === undefined) return { name, input, effects }
  try {
    const parsed = tool.parse(input)
    if (!parsed.ok) return { name, input, effects, subjects: 'unknown' }
    const about = subject(parsed.value)
    return { name, input, effects, subjects: Array.isArray(about) ? about : [about] }
  } catch {
    return { name, input, effects, subjects: 'unknown' }
  }
}

/** Returns the text that the model reads of a call that was not run. */
export function whyNotRun(name: string, { rule, mode }: Ruling): string {
  switch (mode) {
    case 'plan':
      return `Plan mode: "${name}" may change something, so it was not run. Tools that change nothing run.`
    case 'refuse':
      return `Not run: "${name}" needs an approval, and nobody can be asked here.`
    default:
      return `Not run: the rule ${JSON.stringify(rule)} denies it.`
  }
}
