import type { AgentPermissions } from './agentPermissions.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { decideCall, modeRule, refused, strictest, type JudgedCall, type Ruling } from './decideCall.ts'
import { exitPlanName } from './exitPlanTool.ts'
import { suggestRules } from './suggestRules.ts'

/** The definition and permissions by which a call is judged. */
interface Judging {
  readonly definition: Pick<AgentDefinition, 'tools' | 'agents'>
  readonly permissions?: AgentPermissions | undefined
}

interface Call {
  readonly name: string
  readonly input: unknown
}

/** Rule in the records of a call about which nothing had to be decided. */
export const unjudged = 'none'

/**
 * Decides about a call by the permissions of its agent and of the agents above it; `undefined` if there are none. The
 * arguments must fit. Pure, except for the application's functions in rules and tools.
 */
export function judgeCall({ definition, permissions }: Judging, call: Call): Ruling | undefined {
  if (permissions === undefined) return undefined
  const { layers, granted, denied } = permissions
  const judged = judgedCall(definition, call)
  const rulings = layers.flatMap(({ mode, inheritsMode, ...rules }, index) => {
    const ruling = decideCall({ ...rules, deny: [...denied, ...rules.deny], granted }, mode, judged)
    return index > 0 && inheritsMode === true && ruling.rule === modeRule(mode) ? [] : [ruling]
  })
  return strictest(rulings)
}

/** Returns the decision about a call that its tool wants approved. */
export const whenAsked = ({ permissions }: Judging, ruling: Ruling): Ruling =>
  permissions?.layers.some(({ mode }) => mode === 'refuse') === true ? refused(ruling.rule) : { ...ruling, type: 'ask' }

/** Returns rules that would allow a call, the narrowest first. */
export const suggestionsFor = ({ definition }: Judging, call: Call): readonly string[] =>
  // A rule that accepts every plan would be none for people to give.
  call.name === exitPlanName ? [] : suggestRules(judgedCall(definition, call))

function judgedCall({ tools, agents }: Judging['definition'], { name, input }: Call): JudgedCall {
  const tool = tools.get(name)
  if (name === exitPlanName) return { name, input, effects: 'none', endsPlan: true }
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

/** Returns the text that the model reads about a call that was not run. */
export function whyNotRun(name: string, { rule, mode }: Ruling): string {
  switch (mode) {
    case 'plan':
      return `Plan mode: "${name}" may change something, so it was not run. Tools that change nothing run. Once your plan is complete, call ${exitPlanName} with it.`
    case 'refuse':
      return `Not run: "${name}" needs an approval, and nobody can be asked here.`
    default:
      return `Not run: the rule ${JSON.stringify(rule)} denies it.`
  }
}
