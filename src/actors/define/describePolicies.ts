import { oneLine } from '../../protocol/text/cutMiddle.ts'
import type { PolicyInfo } from '../../protocol/braking.ts'
import type { AgentDefinition } from './agentDefinition.ts'

/** Maximum number of characters of a name: applications choose the names of the parts that they write. */
const longest = 200

/** Returns the policies of a definition, in their order, as a person may choose among them. */
export function describePolicies({ braking }: Pick<AgentDefinition, 'braking'>): PolicyInfo[] {
  const short = (name: string): string => oneLine(name, longest)
  return (braking?.policies?.list ?? []).map(({ name, when, decide, keep }) => ({
    name,
    when: short(when.name),
    decide: short(decide.name),
    keep: short(keep.name),
  }))
}
