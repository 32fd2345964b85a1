import { z } from 'zod'
import type { Trigger } from '../../../src/actors/define/policy.ts'
import { defineTool, type Tool } from '../../../src/actors/tools/defineTool.ts'
import { toolCallsOf } from '../../../src/protocol/messages.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'

const toolName = 'say_stuck'
const mostChars = 200

const description = `Say that you are stuck: nothing you try gets you on, or you no longer know which of your findings hold. Say in "why" what you tried and what stands in your way. Somebody then looks at the conversation, and may clear it up, go back or give advice. Do not use it for a question to the user.`

/**
 * Makes a tool by which the model says that it is stuck, for `when.saysStuck()`: `say_stuck({ why })`. It does nothing by itself.
 *
 * @example
 * ```ts
 * import { decide, policy, stuckTool, when } from 'escapement/policies'
 *
 * const helped = policy({ name: 'helped', when: when.saysStuck(), decide: decide.reviewer({ model }), timeoutMs: 180_000 })
 * const coder = defineAgent({ name: 'coder', model, tools: [readFile, stuckTool()], braking: { policies: [helped] } })
 * ```
 */
export const stuckTool = (): Tool =>
  defineTool({
    name: toolName,
    description,
    effects: 'none',
    input: z.object({ why: z.string().min(1).max(2_000) }),
    run: () =>
      'It is noted. What comes of it, if anything does, is said below; else try another way, or say what you need.',
  })

/** Fires when the newest step calls the tool of `stuckTool`. The reason is the model's. */
export function saysStuck(): Trigger {
  return {
    name: 'saysStuck()',
    fires({ conversation }) {
      const head = conversation.node(conversation.head ?? 0)
      const reply = head === undefined ? undefined : conversation.node(head.stepId)?.message
      if (reply?.role !== 'assistant') return null
      const call = toolCallsOf(reply.content).find(({ name }) => name === toolName)
      if (call === undefined) return null
      const { why } = ((typeof call.input === 'object' ? call.input : null) as { readonly why?: unknown }) ?? {}
      return typeof why === 'string' && why.trim() !== ''
        ? cutEnd(why.trim(), mostChars)
        : 'the agent says that it is stuck'
    },
  }
}
