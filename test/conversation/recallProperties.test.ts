import * as fc from 'fast-check'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { brakedHistories, type BrakedHappening } from '../support/brakeArbitraries.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { askRecall } from '../support/recalled.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const stepAt = ({ conversation }: BrakeLog, pick: number): string => `n${1 + (pick % conversation.lastNodeId)}`

/** Lets it happen, with names that stand nowhere else in all that is said; gives them. */
function happen(log: BrakeLog, what: BrakedHappening, place: number): readonly string[] {
  const name = (of: string): string => `${of}_${place}_x`
  const long = (of: string): string => `${'w '.repeat(100)}${of}${' w'.repeat(100)}`
  const isAnswered = log.conversation.trunk().at(-1)!.message.role === 'assistant'
  switch (what.type) {
    case 'user':
      log.user(`${what.words} ${name('asked')}`, what.source)
      return [name('asked')]
    case 'reply':
      if (isAnswered) return []
      log.reply(`${what.words} ${name('said')}`)
      return [name('said')]
    case 'step':
      if (isAnswered) return []
      log.step(
        what.outputs.map((output, at) => ({
          name: place % 7 === 0 && at === 0 ? 'recall' : 'tool',
          input: { path: name(`called${at}`) },
          output: `${output}\n${long(name(`seen${at}`))}`,
        })),
      )
      return what.outputs.flatMap((_, at) =>
        place % 7 === 0 && at === 0 ? [] : [name(`called${at}`), name(`seen${at}`)],
      )
    case 'revert':
      log.drain(...what.wanted.map(({ pick, category, summary }) => ({ step: stepAt(log, pick), category, summary })))
      return []
    case 'graft':
      log.grafts(what.wanted.map((picks) => picks.map((pick) => stepAt(log, pick))))
      return []
    case 'stall':
      log.stall(what)
      return []
    case 'prune': {
      const { picks, tokens, memo } = what
      const steps = picks === undefined ? { tokens } : { steps: picks.map((pick) => stepAt(log, pick)) }
      log.prune({ ...steps, ...(memo === undefined ? {} : { memo }) })
      return []
    }
    case 'mask': {
      const { picks, tokens } = what
      log.prune({
        ...(picks === undefined ? { tokens } : { steps: picks.map((pick) => stepAt(log, pick)) }),
        mask: true,
      })
      return []
    }
    case 'show':
      log.show(...what.picks.map((pick) => stepAt(log, pick)))
      return []
    case 'pin':
      log.pin(stepAt(log, what.pick), what.pinned)
      return []
    case 'fold':
      log.fold(what, what.isAsked)
      return []
    case 'compact':
      log.compact({ ...what, maxChars: 100 })
      return []
  }
}

/** Every name is in the next request, or its step is recalled by any of its ids and by the name. */
function check(conversation: Conversation, request: string, names: ReadonlyMap<string, number>): void {
  const hiddenSteps = new Set<number>()
  for (const [name, id] of names) if (!request.includes(name)) hiddenSteps.add(conversation.node(id)!.stepId)
  for (const [name, id] of names) {
    const { stepId } = conversation.node(id)!
    const byId = askRecall(conversation, { step: `n${id}` })
    const byName = askRecall(conversation, { query: name })
    if (hiddenSteps.has(stepId)) {
      assert.is(byId.isError, false, byId.text)
      assert.ok(byId.text.includes(name), `n${id} has ${name}: ${byId.text}`)
      assert.ok(byName.text.startsWith(`n${stepId} (`) && byName.text.includes(name), `${name}: ${byName.text}`)
      assert.ok(askRecall(conversation, { step: `n${id}`, query: name, lines: 1 }).text.includes(name))
    } else {
      assert.ok(byId.isError && / is shown in full above/.test(byId.text), byId.text)
      assert.ok(byName.isError ? hiddenSteps.size === 0 : byName.text.startsWith('No hidden step'), byName.text)
    }
  }
}

describe('in any braked conversation', (it) => {
  it('every hidden step is recalled by its ids and names, and every other is refused', { timeoutMs: 20_000 }, () => {
    const seen = { hidden: 0, shown: 0 }
    fc.assert(
      fc.property(brakedHistories({ maxLength: 24 }), fc.boolean(), (happenings, isRebase) => {
        const log = new BrakeLog({ policy: { onUserMessage: isRebase ? 'rebase' : 'refuse' } })
        const names = new Map<string, number>()
        log.user('the task')
        happenings.forEach((happening, place) => {
          const before = log.conversation.lastNodeId
          for (const name of happen(log, happening, place)) names.set(name, before + 1)
        })
        // Notes quote hidden steps, which does not show them in full.
        const request = log
          .assemble()
          .request.messages.map((message) => [message.role, JSON.stringify(message)] as const)
          .map(([role, text]) => (role === 'assistant' ? text : text.replaceAll(/<brake-note .*?<\/brake-note>/g, '')))
          .join()
        for (const conversation of [log.conversation, rebuildConversation(log.records)])
          check(conversation, request, names)
        for (const name of names.keys()) seen[request.includes(name) ? 'shown' : 'hidden'] += 1
      }),
      { seed: 20_260_101, endOnFailure: false, numRuns: someRuns(300) },
    )
    assert.ok(seen.hidden > 100 && seen.shown > 100, JSON.stringify(seen))
  })
})
