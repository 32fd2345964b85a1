import type { LimitReason } from '../../protocol/bridge/turns.ts'

const words: { readonly [L in LimitReason['limit']]: (allowed: number) => string } = {
  turns: (allowed) => `of ${allowed} turns`,
  tokens: (allowed) => `of ${allowed} tokens`,
  costUsd: (allowed) => `of ${allowed} US dollars`,
  ms: () => 'of time',
}

export const lastTurnNote = ({ limit, allowed }: LimitReason): string =>
  `<runtime-note kind="limit">The limit ${words[limit](allowed)} for this task is reached. This is your last turn, and you have no tools in it. ` +
  'Answer now with what you have found so far, and say what is missing.</runtime-note>'
