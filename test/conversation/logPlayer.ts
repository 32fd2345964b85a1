import type { Block } from '../../src/protocol/messages.ts'
import type { Overlay } from '../../src/protocol/records.ts'
import type { Happening } from '../support/arbitraries.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

/** Makes records of random happenings, keeping a model of the trunk of its own. */
export class LogPlayer {
  readonly log = new LogBuilder()
  /** Node ids of the trunk, by step. */
  readonly steps: { readonly ids: readonly number[]; readonly isUser: boolean }[] = []
  overlay: Overlay | undefined
  #calls = 0

  /** Calls `between` after every record. */
  play(happening: Happening, between: () => void = () => {}): void {
    const { log } = this
    switch (happening.type) {
      case 'user':
        this.steps.push({ ids: [log.user(happening.words, happening.source)], isUser: true })
        break
      case 'reply': {
        const options = happening.isAborted
          ? ({ stopReason: 'aborted' } as const)
          : { usage: { input: happening.input }, estimatedTokens: 500 }
        // No provider signs the thinking of a reply that was cut off.
        const thinking = happening.isAborted && happening.thinking === 'signed' ? 'unsigned' : happening.thinking
        const blocks = [...thinkingOf(thinking), ...text(happening.words)]
        this.steps.push({ ids: [log.reply(blocks, options)], isUser: false })
        log.turnIndex += 1
        break
      }
      case 'step':
        this.#step(happening, between)
        break
      case 'compact': {
        const span = this.steps.slice(happening.first, Math.max(0, this.steps.length - happening.recent))
        if (span.length === 0) return
        this.overlay = log.compact({
          from: span[0]!.ids[0]!,
          to: span.at(-1)!.ids.at(-1)!,
          kept: span.flatMap(({ ids, isUser }) => (isUser ? ids : [])),
          recentTo: log.head!,
          summary: happening.summary,
          maxToolOutputChars: happening.maxChars,
        })
      }
    }
    between()
  }

  /** True if the model has something to answer: only then is a request made. */
  get isAsked(): boolean {
    const last = this.steps.at(-1)
    return last !== undefined && (last.isUser || last.ids.length > 1)
  }

  #step({ words, thinking, outputs, order }: Extract<Happening, { type: 'step' }>, between: () => void): void {
    const callIds = outputs.map(() => `c${this.#calls++}`)
    const calls = callIds.map((callId, index) => toolCall(callId, index % 2 === 0 ? { path: words } : words))
    const replyId = this.log.reply([...thinkingOf(thinking), ...text(words), ...calls])
    between()
    const arriving = callIds
      .map((callId, index) => ({ callId, output: outputs[index]!, at: order[index]! }))
      .toSorted((a, b) => a.at - b.at)
    for (const { callId, output } of arriving) {
      this.log.result(callId, output)
      between()
    }
    this.steps.push({ ids: [replyId, ...callIds.map((_, index) => replyId + 1 + index)], isUser: false })
    this.log.turnIndex += 1
  }
}

const thinkingOf = (kind: 'none' | 'signed' | 'unsigned'): Block[] =>
  kind === 'none' ? [] : [{ type: 'thinking', text: 'hm', ...(kind === 'signed' ? { signature: 'sig' } : {}) }]
