import type { Size } from './codebase.ts'

export type Range = readonly [least: number, most: number]

/** Share of requests that come more than five minutes after the one before: at a person's message, and between calls. */
export interface Pauses {
  readonly atPrompts: number
  readonly betweenCalls: number
}

/** Work on a project: look, read, do other things for a while, change. Counts are of one task. */
export interface Coding {
  readonly type: 'coding'
  readonly files: Size
  /** Files that are read, and how many of them in one step. */
  readonly reads: Range
  readonly atOnce: Range
  /** Share of reads that are of files read before. */
  readonly readAgain: number
  /** Steps with small results between the last read and the first change. */
  readonly between: Range
  readonly output: Size
  readonly changes: Range
  /** Names in a change. Most were shown a few steps ago. */
  readonly names: Range
  /** Share of them that only the first reading of the file may have shown, and of others from before the task. */
  readonly fromReads: number
  readonly late: number
  /** Share of these others that the agent never wrote itself. */
  readonly unused: number
}

/** A conversation with a customer: one to three look-ups a question. */
export interface Chat {
  readonly type: 'chat'
  readonly output: Size
}

/** Pages that are opened one after the other. */
export interface Browsing {
  readonly type: 'browsing'
  readonly pages: Size
}

/** A kind of session, in the likeness of recorded ones. */
export interface Kind {
  readonly about: string
  /** Requests of a session. */
  readonly lengths: readonly { readonly weight: number; readonly requests: Range }[]
  /** Tokens of system prompt and tools. */
  readonly frame: Range
  readonly pauses: Pauses
  /** Tokens of what the model says in a step beside its calls. */
  readonly words: Size
  readonly work: Coding | Chat | Browsing
}

const nobody: Pauses = { atPrompts: 0, betweenCalls: 0 }
const short = [{ weight: 1, requests: [5, 29] as const }]

const claudeCode: Coding = {
  type: 'coding',
  files: { median: 1_150, spread: 0.9, most: 12_000 },
  reads: [3, 8],
  atOnce: [1, 2],
  readAgain: 0.6,
  between: [0, 4],
  output: { median: 260, spread: 1.1, most: 6_000 },
  changes: [2, 6],
  names: [2, 7],
  fromReads: 0.3,
  late: 0.2,
  unused: 0.4,
}

const codex: Coding = {
  ...claudeCode,
  files: { median: 2_200, spread: 0.9, most: 12_000 },
  reads: [5, 10],
  atOnce: [4, 8],
  readAgain: 0.3,
  between: [15, 25],
  output: { median: 500, spread: 1.1, most: 8_000 },
  changes: [3, 8],
  names: [4, 12],
  fromReads: 0.3,
  late: 0.02,
  unused: 0.4,
}

const lengths: readonly Range[] = [
  [50, 74],
  [75, 99],
  [100, 149],
  [150, 199],
  [200, 320],
]

/** Lengths as in the break-even table of recorded coding sessions, by how many there are of each. */
const weighed = (...weights: readonly number[]): Kind['lengths'] =>
  weights.map((weight, index) => ({ weight, requests: lengths[index]! }))

/** The kinds of sessions of 50 requests and more. */
export const longKinds = {
  'claude-code': {
    about: 'Claude Code, one team',
    lengths: weighed(38, 23, 27, 18, 14),
    frame: [32_000, 45_000],
    pauses: { atPrompts: 0.3, betweenCalls: 0.011 },
    words: { median: 60, spread: 0.9, most: 1_500 },
    work: claudeCode,
  },
  'claude-code-others': {
    about: 'Claude Code, other teams: shorter, more names used late',
    lengths: weighed(22, 10, 8, 3),
    frame: [30_000, 45_000],
    pauses: { atPrompts: 0.3, betweenCalls: 0.011 },
    words: { median: 60, spread: 0.9, most: 1_500 },
    work: { ...claudeCode, files: { median: 900, spread: 0.9, most: 10_000 }, names: [4, 12], late: 0.6, unused: 0.75 },
  },
  codex: {
    about: 'Codex: 5 to 10 files in a step or two, patches 15 to 25 steps later',
    lengths: [
      { weight: 2, requests: [50, 99] },
      { weight: 6, requests: [100, 199] },
      { weight: 7, requests: [200, 327] },
    ],
    frame: [12_000, 18_000],
    pauses: { atPrompts: 0.7, betweenCalls: 0.01 },
    words: { median: 40, spread: 0.9, most: 1_000 },
    work: codex,
  },
  opencode: {
    about: 'OpenCode: large reads, patches late, a small frame',
    lengths: [
      { weight: 4, requests: [50, 79] },
      { weight: 2, requests: [80, 120] },
    ],
    frame: [5_000, 10_000],
    pauses: { atPrompts: 0.7, betweenCalls: 0.01 },
    words: { median: 40, spread: 0.9, most: 1_000 },
    work: { ...codex, files: { median: 2_600, spread: 0.8, most: 12_000 }, fromReads: 0.85, late: 0.1, unused: 0.5 },
  },
} as const satisfies { readonly [name: string]: Kind }

/** The kinds of runs of fewer than 30 requests. */
export const shortKinds = {
  'sub-agent': {
    about: 'sub-agents of OpenCode: 13 to 20 requests, 40k to 110k tokens of large reads',
    lengths: [{ weight: 1, requests: [13, 20] }],
    frame: [5_500, 6_500],
    pauses: nobody,
    words: { median: 30, spread: 0.8, most: 400 },
    work: {
      ...codex,
      files: { median: 4_000, spread: 0.6, most: 14_000 },
      reads: [11, 18],
      atOnce: [1, 2],
      readAgain: 0.1,
      between: [0, 3],
      changes: [0, 0],
    },
  },
  terminal: {
    about: 'terminal runs with a tiny prompt',
    lengths: [{ weight: 1, requests: [8, 29] }],
    frame: [600, 1_500],
    pauses: nobody,
    words: { median: 60, spread: 0.7, most: 500 },
    work: {
      ...claudeCode,
      files: { median: 350, spread: 0.9, most: 3_000 },
      output: { median: 120, spread: 1.1, most: 3_000 },
      between: [3, 8],
      reads: [1, 4],
    },
  },
  support: {
    about: 'support chats',
    lengths: [{ weight: 1, requests: [8, 29] }],
    frame: [1_800, 4_000],
    pauses: { atPrompts: 0.1, betweenCalls: 0 },
    words: { median: 60, spread: 0.6, most: 400 },
    work: { type: 'chat', output: { median: 120, spread: 0.8, most: 1_500 } },
  },
  browser: {
    about: 'browser runs: page states as results',
    lengths: [{ weight: 1, requests: [5, 20] }],
    frame: [3_000, 8_000],
    pauses: nobody,
    words: { median: 80, spread: 0.5, most: 300 },
    work: { type: 'browsing', pages: { median: 900, spread: 0.8, most: 6_000 } },
  },
  'claude-code-short': { ...longKinds['claude-code'], about: 'short sessions of Claude Code', lengths: short },
  'codex-short': { ...longKinds.codex, about: 'short sessions of Codex', lengths: short },
} as const satisfies { readonly [name: string]: Kind }

/** How many of a hundred short runs are of which kind. */
export const shortMix: readonly { readonly weight: number; readonly name: keyof typeof shortKinds }[] = [
  { weight: 40, name: 'sub-agent' },
  { weight: 15, name: 'terminal' },
  { weight: 15, name: 'support' },
  { weight: 10, name: 'browser' },
  { weight: 10, name: 'claude-code-short' },
  { weight: 10, name: 'codex-short' },
]

export type LongKind = keyof typeof longKinds
export type KindName = LongKind | keyof typeof shortKinds

export const kinds: Readonly<Record<KindName, Kind>> = { ...longKinds, ...shortKinds }

/** Seeds that defaults may be tuned on, and others that only claims are made of. Two sets never share a seed. */
export const seedSets = { tune: 1, 'held-out': 1_000_001 } as const
export type SeedSet = keyof typeof seedSets
