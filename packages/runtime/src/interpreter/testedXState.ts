import xstate from 'xstate/package.json' with { type: 'json' }

/** The oldest and the newest XState version with which plans are tested: `test/machines/testedXState.test.ts` runs on both. */
export const testedXState = { oldest: '5.28.0', newest: '5.33.3' } as const

/** Version of the installed XState. */
export const xstateVersion = xstate.version

/** Returns true for a version in the tested range that is not a prerelease. Pure. */
export function isTested(version: string): boolean {
  const { oldest, newest } = testedXState
  return /^\d+\.\d+\.\d+$/.test(version) && rank(oldest) <= rank(version) && rank(version) <= rank(newest)
}

/** Returns a number that grows with the version. A collator would give the same order, but takes milliseconds to create. */
const rank = (version: string): number => version.split('.').reduce((sum, part) => sum * 10_000 + Number(part), 0)
