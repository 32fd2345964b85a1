import type { Conversation } from '../../src/conversation/conversation.ts'
import type { RevertOutcome } from '../../src/protocol/braking.ts'
import type { BrakedHappening } from './brakeArbitraries.ts'
import type { BrakeLog } from './brakeLog.ts'
import { assert } from './suite.ts'

/** Any id there is, and some there are not. */
function nameStep(conversation: Conversation, pick: number, isInside: boolean): string {
  const trunk = conversation.trunk()
  if (pick % 10 === 9) return ['n999', 'x', '', 'n0', '-1', 'n1.5'][Math.floor(pick / 10) % 6]!
  if (pick % 10 === 8) return String(1 + (pick % (conversation.lastNodeId + 1)))
  const place = isInside ? trunk : trunk.filter((node, at) => trunk[at + 1]?.stepId !== node.stepId)
  const node = place[pick % Math.max(1, place.length)]
  return node === undefined ? 'n1' : `n${node.id}`
}

type Drain = () => RevertOutcome[]

/** Makes it happen in a conversation. `around` carries out a drain of reverts. */
export function happen(
  log: BrakeLog,
  what: BrakedHappening,
  around: (log: BrakeLog, drain: Drain) => void = (_, drain) => void drain(),
): void {
  switch (what.type) {
    case 'user':
      return void log.user(what.words, what.source)
    case 'reply':
      return void log.reply(what.words)
    case 'step':
      return void log.step(
        what.outputs.map((output, at) => ({
          output,
          isError: at % 2 === 1,
          ...(at === 0 ? {} : { isIrreversible: true }),
          ...(at === 0 ? { changed: ['a.ts'] } : {}),
          // A denied step is never folded, so that folds have holes.
          ...(at === 2 ? { denied: 'no' } : {}),
        })),
        { order: what.outputs.map((_, at) => at).toSorted((a, b) => what.order[a]! - what.order[b]!) },
      )
    case 'revert': {
      const wanted = what.wanted.map(({ pick, isInside, ...rest }) => ({
        step: nameStep(log.conversation, pick, isInside),
        ...rest,
      }))
      around(log, () => log.drain(...wanted))
      return
    }
    case 'prune': {
      const steps = what.picks?.map((pick) => nameStep(log.conversation, pick, true))
      log.prune({
        ...(steps === undefined ? { tokens: what.tokens } : { steps }),
        ...(what.memo === undefined ? {} : { memo: what.memo }),
      })
      return
    }
    case 'pin': {
      const { overlay, head } = log.conversation
      // Some are of the summary.
      const step = overlay !== undefined && what.pick % 5 === 0 ? `n${overlay.nodeId}` : undefined
      const before = head === null ? '' : JSON.stringify(log.assemble().request)
      const { applied, reason } = log.pin(step ?? nameStep(log.conversation, what.pick, what.isInside), what.pinned)
      assert.ok(applied ? reason === undefined : /^(un)?pin refused: /.test(reason ?? ''), reason)
      assert.is(head === null ? '' : JSON.stringify(log.assemble().request), before, 'a pin changes no request')
      return
    }
    case 'fold':
      return void log.fold(what, what.isAsked)
    case 'stall': {
      const stall = log.stall({ rules: what.rules })
      if (stall === undefined) return
      assert.ok(log.conversation.onTrunk(stall.target), 'its target is on the trunk')
      assert.is(log.stall({ rules: what.rules }), undefined, 'it is reported once')
      return
    }
    case 'compact':
      log.compact(what)
  }
}
