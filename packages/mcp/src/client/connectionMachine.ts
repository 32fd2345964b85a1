import { assign, fromPromise, setup } from 'xstate'
import type { McpRestart } from './options.ts'

/** Outcome of an attempt to open a connection. */
export type Opened =
  | { readonly type: 'up' }
  | { readonly type: 'refused'; readonly at: number; readonly why: string; readonly next: 'retry' | 'wait' | 'signIn' }

/** Reason why a connection was lost. */
export interface Lost {
  readonly at: number
  readonly why: string
}

export interface ConnectionContext {
  readonly restart: Required<McpRestart>
  /** Times of losses and failed attempts that still count. */
  readonly losses: readonly number[]
  /** Time of the next attempt. */
  readonly retryAt: number
  /** Number of completed attempts. */
  readonly attempts: number
  readonly why: string | null
  /** True while the connection waits for a person to sign in. */
  readonly needsSignIn: boolean
  /** True if the list changed again while it was fetched. */
  readonly isStale: boolean
  /** Number of consecutive lists that were stale on arrival. */
  readonly relists: number
}

export type ConnectionEvent =
  /** A turn or a call needs the connection. `isSignInOver`: the sign-in that was requested is no longer under way. */
  | { readonly type: 'wanted'; readonly at: number; readonly isSignInOver?: boolean }
  | { readonly type: 'list.changed' }
  | { readonly type: 'signed.in' }
  | { readonly type: 'close' }

/** Maximum number of immediate refetches of a list that changed meanwhile, because a server may announce a change with each list. */
const mostRelists = 3

const missing = (name: string) => () => Promise.reject(new Error(`Nobody provided the effect ${name}.`))

const outputOf = <Output>(event: unknown): Output => (event as { readonly output: Output }).output

/** Returns true if another attempt is allowed, counting the loss at `at`. Pure. */
const isAllowed = ({ restart, losses }: ConnectionContext, at: number): boolean =>
  losses.filter((loss) => loss > at - restart.windowMs).length < restart.maxRestarts

const connection = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
    input: {} as { readonly restart: Required<McpRestart> },
  },
  actors: {
    open: fromPromise<Opened>(missing('open')),
    watch: fromPromise<Lost>(missing('watch')),
    list: fromPromise<void>(missing('list')),
    sleep: fromPromise<void, { readonly until: number }>(missing('sleep')),
    rest: fromPromise<void>(missing('rest')),
    shut: fromPromise<void>(missing('shut')),
  },
  guards: {
    isUp: ({ event }) => outputOf<Opened>(event).type === 'up',
    mayRetry: ({ context, event }) => {
      const { at, next } = outputOf<Extract<Opened, { type: 'refused' }>>(event)
      return next === 'retry' && isAllowed(context, at)
    },
    mayRestart: ({ context, event }) => isAllowed(context, outputOf<Lost>(event).at),
    isStale: ({ context }) => context.isStale,
    isRestless: ({ context }) => context.isStale && context.relists >= mostRelists,
    /** True if the failure is long enough ago for another attempt. */
    isLongAgo: ({ context, event }) =>
      event.type === 'wanted' &&
      (!context.needsSignIn || event.isSignInOver === true) &&
      event.at - (context.losses.at(-1) ?? 0) >= context.restart.windowMs,
  },
  actions: {
    rememberLoss: assign(({ context, event }) => {
      const { at, why, next } = outputOf<Lost & { readonly next?: string }>(event)
      const { windowMs, backoffMs, maxBackoffMs } = context.restart
      const counted = context.losses.filter((loss) => loss > at - windowMs)
      return {
        why,
        needsSignIn: next === 'signIn',
        losses: [...counted, at],
        retryAt: at + Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(counted.length, 30)),
      }
    }),
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    rememberUp: assign({ why: null, needsSignIn: false }),
    markStale: assign({ isStale: true }),
    markFresh: assign({ isStale: false }),
    countRelist: assign({ relists: ({ context }) => context.relists + 1 }),
    forgetRelists: assign({ relists: 0 }),
  },
})

/**
 * State machine of a connection to a server of the Model Context Protocol: opened when it is needed, watched, reopened with
 * growing pauses when it is lost, and given up for a while when that happens too often. Pure: effects are its actors.
 */
export const mcpConnectionMachine = connection.createMachine({
  id: 'mcpConnection',
  context: ({ input }) => ({
    restart: input.restart,
    losses: [],
    retryAt: 0,
    attempts: 0,
    why: null,
    needsSignIn: false,
    isStale: false,
    relists: 0,
  }),
  initial: 'idle',
  on: { close: '.closing' },
  states: {
    idle: { on: { wanted: 'opening' } },
    opening: {
      entry: 'markFresh',
      exit: 'countAttempt',
      invoke: {
        src: 'open',
        id: 'open',
        onDone: [
          { guard: 'isUp', target: 'up', actions: 'rememberUp' },
          { guard: 'mayRetry', target: 'backoff', actions: 'rememberLoss' },
          { target: 'failed', actions: 'rememberLoss' },
        ],
      },
      // A part of the list may be there already.
      on: { 'list.changed': { actions: 'markStale' } },
    },
    up: {
      invoke: {
        src: 'watch',
        id: 'watch',
        onDone: [
          { guard: 'mayRestart', target: 'backoff', actions: 'rememberLoss' },
          { target: 'failed', actions: 'rememberLoss' },
        ],
      },
      initial: 'steady',
      states: {
        steady: {
          entry: 'forgetRelists',
          always: { guard: 'isStale', target: 'listing' },
          on: { 'list.changed': 'listing' },
        },
        listing: {
          entry: 'markFresh',
          invoke: {
            src: 'list',
            id: 'list',
            onDone: [
              { guard: 'isRestless', target: 'resting' },
              { guard: 'isStale', target: 'listing', reenter: true, actions: 'countRelist' },
              { target: 'steady' },
            ],
          },
          on: { 'list.changed': { actions: 'markStale' } },
        },
        resting: { invoke: { src: 'rest', id: 'rest', onDone: 'listing' } },
      },
    },
    backoff: {
      invoke: {
        src: 'sleep',
        id: 'sleep',
        input: ({ context }) => ({ until: context.retryAt }),
        onDone: 'opening',
      },
    },
    failed: { on: { wanted: { guard: 'isLongAgo', target: 'opening' }, 'signed.in': 'opening' } },
    closing: { on: { close: {} }, invoke: { src: 'shut', id: 'shut', onDone: 'closed' } },
    closed: { type: 'final' },
  },
})
