import type { ConversationModel, GraphStep } from './conversationModel.ts'

/** Trunk steps that are always shown at the beginning. */
const firstKept = 10

/**
 * At most about so many steps of a long conversation: each trunk step's abandoned branches as one, then the middle of the trunk as one.
 * What was folded says how much it was. A conversation that is short enough is given as it is. Pure and linear.
 */
export function foldConversation({ steps }: ConversationModel, most: number): readonly GraphStep[] {
  if (steps.length <= most) return steps
  const trunk = steps.filter(({ isOnTrunk }) => isOnTrunk)
  const anchors = new Map<string, string | undefined>()
  const branches = new Map<string | undefined, GraphStep[]>()
  for (const step of steps) {
    if (step.isOnTrunk) continue
    const { parent } = step
    const anchor = parent !== undefined && anchors.has(parent) ? anchors.get(parent) : parent
    anchors.set(step.id, anchor)
    const beside = branches.get(anchor)
    if (beside === undefined) branches.set(anchor, [step])
    else beside.push(step)
  }
  const branchOf = (anchor: string | undefined): GraphStep[] => {
    const beside = branches.get(anchor)
    if (beside === undefined) return []
    return [folded(beside, `fold ${beside[0]!.id}`, anchor, `${counted(beside.length)} abandoned`)]
  }
  const half = Math.floor(most / 2)
  const lastKept = trunk.length <= half ? trunk.length - firstKept : half - firstKept - 1
  const middle = trunk.slice(firstKept, Math.max(firstKept, trunk.length - lastKept))
  if (middle.length < 2) return [...branchOf(undefined), ...trunk.flatMap((step) => [step, ...branchOf(step.id)])]
  const lost = middle.reduce((sum, { id }) => sum + (branches.get(id)?.length ?? 0), 0)
  const what = `${counted(middle.length)}${lost === 0 ? '' : `, and ${lost} abandoned`}`
  const fold = folded(middle, `fold ${middle[0]!.id}`, middle[0]!.parent, what)
  const [next, ...rest] = trunk.slice(firstKept + middle.length)
  const kept = [
    ...trunk.slice(0, firstKept),
    fold,
    ...(next === undefined ? [] : [{ ...next, parent: fold.id }]),
    ...rest,
  ]
  return [...branchOf(undefined), ...kept.flatMap((step) => [step, ...branchOf(step.id)])]
}

const counted = (count: number): string => (count === 1 ? '1 step' : `${count} steps`)

function folded(steps: readonly GraphStep[], id: string, parent: string | undefined, label: string): GraphStep {
  const { parent: _, hiddenBy: __, rebasedFrom: ___, ...first } = steps[0]!
  return {
    ...first,
    id,
    ...(parent === undefined ? {} : { parent }),
    label,
    nodes: [first.nodes[0]!, steps.at(-1)!.nodes.at(-1)!],
    tokens: steps.reduce((sum, { tokens }) => sum + tokens, 0),
    tags: [],
    agents: [],
  }
}
