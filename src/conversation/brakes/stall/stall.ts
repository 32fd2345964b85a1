import type { Stall, StallRule } from '../../../protocol/braking.ts'
import type { ToolResultMessage } from '../../../protocol/messages.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { callLine } from '../fold/foldLine.ts'
import { namesIn, wordsOf } from '../../names/names.ts'
import { callsRun, type ConversationNode } from '../../tree/node.ts'
import { defaultStallRules, mostStallSteps, stallRules, type Loop, type RecentSteps } from './stallRules.ts'
import { printOf, type StepPrint } from './stepPrint.ts'

/** The part of a conversation that is searched for stalls. */
export interface StallSubject {
  readonly lastNodeId: NodeId
  node(id: NodeId): ConversationNode | undefined
  onTrunk(id: NodeId): boolean
}

/**
 * Returns the loop that ends with the newest step of the log, by the first of these rules that finds one. Steps that a revert abandoned count; steps
 * before a person last spoke do not. Reads only the last 16 steps with calls. Pure.
 */
export function stallOf(
  conversation: StallSubject,
  rules: readonly StallRule[] = defaultStallRules,
): Stall | undefined {
  const recent = recentSteps(conversation)
  for (const rule of rules) {
    const loop = stallRules[rule](recent)
    if (loop === undefined) continue
    const steps = loop.steps.map(({ id }) => id)
    const first = steps[0]!
    return {
      rule,
      first,
      target: targetOf(conversation, first),
      steps,
      evidence: evidenceOf(rule, loop, conversation),
    }
  }
  return undefined
}

/** Counts the steps with calls after this one. Looks back no further than the rules do. */
export const stepsAfter = (conversation: StallSubject, stepId: NodeId): number =>
  recentSteps(conversation).steps.filter(({ id }) => id > stepId).length

/** Returns the newest steps with calls, of all branches. */
function recentSteps(conversation: StallSubject): RecentSteps {
  const steps: StepPrint[] = []
  for (let id = conversation.lastNodeId; id > 0 && steps.length < mostStallSteps; id--) {
    const node = conversation.node(id)
    if (node === undefined) continue
    // A message that a revert repeats was not said again.
    if (node.message.role === 'user' && node.rebasedFrom === undefined) break
    // Nor was a copy of a step done again.
    if (node.message.role !== 'assistant' || node.copiedFrom !== undefined) continue
    const print = printOf(node, () => resultsOf(conversation, id))
    if (print !== null) steps.push(print)
  }
  steps.reverse()
  return { steps, newShare: (step) => newShare(conversation, steps, step) }
}

function resultsOf(conversation: StallSubject, stepId: NodeId): ConversationNode[] {
  const results: ConversationNode[] = []
  for (let id = stepId + 1; ; id++) {
    const node = conversation.node(id)
    if (node?.stepId !== stepId) return results
    results.push(node)
  }
}

/** Number of characters of each text that are searched for names. */
const searchedChars = 8_000

function newShare(conversation: StallSubject, steps: readonly StepPrint[], step: StepPrint): number {
  const namesOf = (nodes: readonly ConversationNode[]): Set<string> =>
    new Set(nodes.flatMap((node) => [...namesIn(wordsOf(node).slice(0, searchedChars))]))
  const found = namesOf(resultsOf(conversation, step.id))
  if (found.size === 0) return 0
  // Names in its own calls are not new either.
  const seen = namesOf([conversation.node(step.id)!])
  for (const { id } of steps.slice(0, steps.indexOf(step)))
    for (const name of namesOf([conversation.node(id)!, ...resultsOf(conversation, id)])) seen.add(name)
  return [...found].filter((name) => !seen.has(name)).length / found.size
}

/** Returns the last node of the nearest step before the loop that is still on the trunk. */
function targetOf(conversation: StallSubject, first: NodeId): NodeId {
  let target = conversation.node(first)!.parentId!
  while (!conversation.onTrunk(target)) target = conversation.node(target)!.parentId!
  return target
}

const longestEvidence = 300

function evidenceOf(rule: StallRule, { steps, period = 1 }: Loop, conversation: StallSubject): string {
  const round = steps.slice(-period).map(({ id }) => cutEnd(stepLine(conversation, id), Math.floor(240 / period)))
  return cutEnd(`${wordsFor[rule](steps.length, period)}: ${round.join(', then ')}`, longestEvidence)
}

const wordsFor: { readonly [R in StallRule]: (count: number, period: number) => string } = {
  repeat: (count) => `the same call with the same result ${count} times`,
  repeat4: (count) => `the same call with the same result ${count} times in a row`,
  cycle: (count, period) => `the same ${period} steps with the same results ${Math.floor(count / period)} times`,
  sameError: (count) => `the same error ${count} times, the last`,
  nothingNew: (count) => `${count} steps that changed nothing and showed nothing new, the last`,
  errors: (count) => `${count} of the last 4 steps failed, the last`,
}

/** Describes the calls of a step, with their errors, on one line. */
function stepLine(conversation: StallSubject, stepId: NodeId): string {
  const results = new Map<string, ToolResultMessage>()
  const nodes = resultsOf(conversation, stepId)
  for (const { message } of nodes) if (message.role === 'toolResult') results.set(message.callId, message)
  const calls = callsRun(conversation.node(stepId)!, nodes)
  const few = calls.slice(0, 3).map((call) => callLine(call, results.get(call.callId)))
  return [...few, ...(calls.length > few.length ? [`${calls.length - few.length} more`] : [])].join('; ')
}
