import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { Consultation, Trigger } from '../../../src/actors/define/policy.ts'
import { saysStuck } from './stuck.ts'
import { valueBelow } from './valueBelow.ts'

const whole = (value: number): string => Math.round(value).toLocaleString('en')

/** @throws RuntimeError `INVALID_OPTION` unless it is a whole number, at least 1. */
function checkTurns(turns: unknown, what: string): void {
  if (!Number.isInteger(turns) || (turns as number) < 1)
    throw new RuntimeError('INVALID_OPTION', `${what}: ${String(turns)}: give a whole number of turns, at least 1.`)
}

/**
 * Fires while the next request would be larger than this: a number of tokens, or a share of the context window, such as `{ share: 0.5 }`.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function tokensOver(limit: number | { readonly share: number }): Trigger {
  const isShare = typeof limit !== 'number'
  const amount = isShare ? limit?.share : limit
  if (!Number.isFinite(amount) || (isShare ? amount <= 0 || amount >= 1 : amount < 1))
    throw new RuntimeError(
      'INVALID_OPTION',
      `when.tokensOver: ${isShare ? JSON.stringify(limit) : amount}: give a number of tokens, or { share } between 0 and 1.`,
    )
  return {
    name: isShare ? `tokensOver({ share: ${amount} })` : `tokensOver(${amount})`,
    fires({ contextTokens, contextWindow }) {
      const most = isShare ? amount * contextWindow : amount
      return contextTokens > most ? `${whole(contextTokens)} tokens, over ${whole(most)}` : null
    },
  }
}

/** Returns the turns since the policy last fired, or since the beginning. */
const turnsSince = ({ turn, last }: Consultation): number => turn - (last?.turn ?? 0)

/**
 * Fires when this many turns have passed since it last did.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function everyTurns(turns: number): Trigger {
  checkTurns(turns, 'when.everyTurns')
  return {
    name: `everyTurns(${turns})`,
    fires: (at) => (turnsSince(at) >= turns ? `${turnsSince(at)} turns since the last time` : null),
  }
}

/** Fires when the newest step continues a loop, by the rules of `braking.stall` or, without it, by its default ones. */
function stalled(): Trigger {
  return {
    name: 'stalled()',
    fires({ stall, conversation }) {
      // A loop that was left, or that a revert took away, is still the last one in the log.
      const newest = conversation.node(conversation.head ?? 0)?.stepId
      return stall !== undefined && stall.steps.at(-1) === newest ? stall.evidence : null
    },
  }
}

/**
 * Fires when requests, if they keep growing as they do, will be too large within the given number of turns (default 5): so large that a
 * compaction begins or, without compaction, larger than the context window.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function willOverflow(options: { readonly turns?: number } = {}): Trigger {
  const { turns = 5 } = options
  checkTurns(turns, 'when.willOverflow: turns')
  return {
    name: `willOverflow({ turns: ${turns} })`,
    fires({ contextTokens, growth, compactsAt, contextWindow }) {
      const most = Math.min(compactsAt ?? contextWindow, contextWindow)
      const expected = contextTokens + turns * Math.max(0, growth)
      return expected > most ? `${whole(expected)} tokens in ${turns} turns, over ${whole(most)}` : null
    },
  }
}

/**
 * Never fires by itself: the policy acts only when somebody asks for it by its name, with `agent.brake(name)` or a button. Any policy can be
 * asked for, whatever its trigger.
 */
function onRequest(): Trigger {
  return { name: 'onRequest()', fires: ({ isRequested }) => (isRequested ? 'it was asked for' : null) }
}

/**
 * Fires in the background, when the agent has come to rest, and the given number of turns (default 1) has passed since it last did.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function whileIdle(options: { readonly everyTurns?: number } = {}): Trigger {
  const { everyTurns: turns = 1 } = options
  checkTurns(turns, 'when.whileIdle: everyTurns')
  return {
    name: turns === 1 ? 'whileIdle()' : `whileIdle({ everyTurns: ${turns} })`,
    atRest: true,
    fires: (at) => (at.isAtRest && turnsSince(at) >= turns ? 'the agent is at rest' : null),
  }
}

function checkTriggers(triggers: readonly Trigger[], what: string): void {
  const wrong = triggers.findIndex((trigger) => typeof trigger?.fires !== 'function')
  if (triggers.length > 0 && wrong < 0) return
  const seen = triggers.length === 0 ? 'it was given none' : `number ${wrong + 1} is none`
  throw new RuntimeError('INVALID_OPTION', `${what}: give triggers, such as when.stalled(); ${seen}.`)
}

const named = (what: string, triggers: readonly Trigger[]): string =>
  `${what}(${triggers.map(({ name }) => name).join(', ')})`

type Fired = ReturnType<Trigger['fires']>

/** Continues with an answer, synchronously if the answer is already known. */
const withAnswer = (answer: Fired, then: (why: string | null) => Fired): Fired =>
  answer instanceof Promise ? answer.then(then) : then(answer)

/**
 * Fires when one of them does; those after it are not asked. At rest, only those are asked that are meant for it.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function anyOf(...triggers: readonly Trigger[]): Trigger {
  checkTriggers(triggers, 'when.anyOf')
  const firesFrom = (at: Consultation, asked: readonly Trigger[]): Fired => {
    const [first, ...rest] = asked
    if (first === undefined) return null
    return withAnswer(first.fires(at), (why) => (why === null ? firesFrom(at, rest) : why))
  }
  return {
    name: named('anyOf', triggers),
    atRest: triggers.some(({ atRest }) => atRest === true),
    fires: (at) => firesFrom(at, at.isAtRest ? triggers.filter(({ atRest }) => atRest === true) : triggers),
  }
}

/**
 * Fires when all of them do. They are asked in order, up to the first that does not: put the most expensive one last. If one of them is
 * meant for rest, all are asked at rest.
 *
 * @throws RuntimeError `INVALID_OPTION`.
 */
function allOf(...triggers: readonly Trigger[]): Trigger {
  checkTriggers(triggers, 'when.allOf')
  const firesFrom = (at: Consultation, asked: readonly Trigger[], reasons: readonly string[]): Fired => {
    const [first, ...rest] = asked
    if (first === undefined) return reasons.join('; ')
    // Anything else than a reason is for the kernel to judge.
    return withAnswer(first.fires(at), (why) =>
      typeof why === 'string' ? firesFrom(at, rest, [...reasons, why]) : why,
    )
  }
  return {
    name: named('allOf', triggers),
    atRest: triggers.some(({ atRest }) => atRest === true),
    fires: (at) => firesFrom(at, triggers, []),
  }
}

/** The triggers of policies: when to act. */
export const when = Object.freeze({
  tokensOver,
  everyTurns,
  valueBelow,
  stalled,
  saysStuck,
  willOverflow,
  onRequest,
  whileIdle,
  anyOf,
  allOf,
})
