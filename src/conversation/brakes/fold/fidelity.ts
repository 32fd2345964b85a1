import type { Evidence } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { textOf, toolCallsOf } from '../../../protocol/messages.ts'
import { brakeTools } from '../revert/planRevert.ts'
import type { ConversationNode } from '../../tree/node.ts'

/** Number of steps at the end of a span whose names a summary must not lose. */
const recentSteps = 2

/** Returns the file lists of a summary, computed from the calls and never written by a model. */
export function filesOf(span: readonly ConversationNode[], { changed }: Evidence): string[] {
  const read = new Set<string>()
  for (const { message } of span) {
    if (message.role !== 'assistant') continue
    for (const { input } of toolCallsOf(message.content)) {
      const path = (input as { path?: unknown } | null)?.path
      if (typeof path === 'string' && !changed.includes(path)) read.add(path)
    }
  }
  return [
    ...(changed.length === 0 ? [] : [`Files changed: ${changed.join(', ')}`]),
    ...(read.size === 0 ? [] : [`Files read: ${[...read].join(', ')}`]),
  ]
}

/** Returns paths and compound names that occur in the calls of the last steps but not in their summary. Pure. */
export function missingNames(summary: string, span: readonly ConversationNode[], ignored = brakeTools): string[] {
  const names = lastSteps(span).flatMap((nodes) => namesIn(nodes, ignored))
  return [...new Set(names)].filter((name) => !summary.includes(name))
}

const lastSteps = (span: readonly ConversationNode[]): ConversationNode[][] =>
  [...new Set(span.map(({ stepId }) => stepId))]
    .slice(-recentSteps)
    .map((stepId) => span.filter((node) => node.stepId === stepId))

/** Returns the nodes of the last steps that are quoted in full because the summary lacks names that they use. Pure. */
export function fidelityOf(summary: string, span: readonly ConversationNode[], ignored = brakeTools): NodeId[] {
  return lastSteps(span).flatMap((nodes) =>
    namesIn(nodes, ignored).every((name) => summary.includes(name))
      ? []
      : nodes.filter(({ message }) => textOf(message.content) !== '').map(({ id }) => id),
  )
}

/** Returns the path or compound name in words joined by `.`, `/` and `-`, from its first letter on; `undefined` for a plain word. */
function nameOf(words: string): string | undefined {
  const lettered = words.slice(words.search(/[A-Za-z]|$/))
  if (/[./-]/.test(lettered)) return lettered
  const last = words.split(/[./-]/).at(-1)!
  return /^[a-z]+[A-Z]|\w_\w/.test(last) ? last : undefined
}

/** Returns the paths and compound names in the calls of a step, to which later work may refer. */
function namesIn(nodes: readonly ConversationNode[], ignored: ReadonlySet<string>): string[] {
  const names = new Set<string>()
  for (const { message } of nodes) {
    if (message.role !== 'assistant') continue
    for (const call of toolCallsOf(message.content)) {
      if (ignored.has(call.name)) continue
      for (const [words] of (JSON.stringify(call.input) ?? '').matchAll(/\w+(?:[./-]\w+)*/g)) {
        const name = nameOf(words)
        if (name !== undefined) names.add(name)
      }
    }
  }
  return [...names].slice(0, 10)
}
