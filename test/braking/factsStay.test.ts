import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { happen } from '../support/brakedHappenings.ts'
import { BrakeLog, textIn } from '../support/brakeLog.ts'
import { brakedHistories, foldedHistories, type BrakedHappening } from '../support/brakeArbitraries.ts'
import { assert, describe } from '../support/suite.ts'

/** Plays a random conversation in which people deny calls and tools do what cannot be undone; says how each is told. */
class Deeds {
  readonly log: BrakeLog
  readonly wanted: string[] = []

  constructor(policy: number) {
    this.log = new BrakeLog({
      policy: { onUserMessage: policy % 2 === 0 ? 'rebase' : 'refuse', maxRevertsPerTarget: 99 },
      tags: {
        lessonWindowTurns: policy % 3,
        lessonWindowCount: policy % 2,
        maxCheckpoints: 1 + (policy % 2),
        decay: policy % 5 === 0 ? 'lazy' : 'exact',
      },
    })
    this.log.user('the task')
  }

  play(happening: BrakedHappening): void {
    const { log } = this
    const steps = log.conversation.steps()
    const name = (pick: number): string => `n${steps[pick % steps.length]!.endId}`
    switch (happening.type) {
      case 'user':
        return void log.user(happening.words, happening.source)
      case 'reply':
        return void log.reply('said')
      case 'step':
        return void log.step(happening.outputs.map((_, at) => this.#call(happening.order[at]!)))
      case 'revert':
        return void log.drain(...happening.wanted.map(({ pick, ...rest }) => ({ ...rest, step: name(pick) })))
      case 'prune': {
        const { picks, tokens, memo } = happening
        const chosen = picks === undefined ? { tokens } : { steps: picks.map(name) }
        return void log.prune({ ...chosen, ...(memo === undefined ? {} : { memo }) })
      }
      case 'mask':
      case 'show':
      case 'graft':
        return happen(log, happening)
      case 'pin':
        return void log.pin(name(happening.pick), happening.pinned)
      case 'fold':
        return void log.fold(happening, happening.isAsked)
      case 'stall':
        return void log.stall({ rules: happening.rules })
      case 'compact':
        return void log.compact({ ...happening, summary: 'nothing was paid, all was approved' })
    }
  }

  #call(dice: number) {
    const number = this.wanted.length
    const tool = `tool${dice % 6}`
    if (dice % 3 === 0) return { name: tool, output: 'seen' }
    this.wanted.push(dice % 3 === 1 ? `reason ${number}.` : `receipt ${number}.`)
    return dice % 3 === 1
      ? { name: tool, denied: `reason ${number}.` }
      : {
          name: tool,
          // The line of a fold tells the call, facts its outcome too.
          input: { order: `receipt ${number}.` },
          output: `receipt ${number}.`,
          isIrreversible: true,
          isError: dice % 2 === 0,
        }
  }
}

const histories = fc.oneof(brakedHistories({ maxLength: 24 }), foldedHistories({ maxLength: 8 }))

describe('after any reverts, prunes, folds and compactions', (it) => {
  it('every denial and everything that cannot be undone is in the request', { timeoutMs: 30_000 }, () => {
    let told = 0
    fc.assert(
      fc.property(histories, fc.nat(29), (happenings, policy) => {
        const deeds = new Deeds(policy)
        const { log } = deeds
        const { braking: _, ...frame } = log.frame
        const assembler = new RequestAssembler(log.conversation, log.frame)
        for (const happening of happenings) {
          const isReply = happening.type === 'reply' || happening.type === 'step'
          if (isReply && log.conversation.trunk().at(-1)!.message.role === 'assistant') continue
          deeds.play(happening)
          const rebuilt = rebuildConversation(log.records)
          for (const { request } of [
            assembler.assemble(log.turnIndex),
            assembleRequest(rebuilt, log.frame, log.turnIndex),
            assembleRequest(rebuilt, frame, log.turnIndex),
          ]) {
            const said = textIn(request.messages)
            for (const wanted of deeds.wanted) assert.ok(said.includes(wanted), `${wanted} is missing`)
          }
        }
        told += deeds.wanted.length
      }),
      { seed: 9, endOnFailure: false, numRuns: someRuns(400) },
    )
    assert.ok(told > someRuns(1_000), `${told} facts`)
  })
})
