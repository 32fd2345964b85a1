import xstate from 'xstate/package.json' with { type: 'json' }

/** The oldest and the newest XState on which plans were seen to behave like XState: `test/machines/testedXState.test.ts` runs on both. */
export const testedXState = { oldest: '5.28.0', newest: '5.33.3' } as const

/** Version of the XState that runs here. */
export const xstateVersion = xstate.version

/** True of a version in the tested range; a prerelease does not. Pure. */
export function isTested(version: string): boolean {
  const { oldest, newest } = testedXState
  return /^\d+\.\d+\.\d+$/.test(version) && rank(oldest) <= rank(version) && rank(version) <= rank(newest)
}

/** A number that is greater for later versions. Collators know that order too, but take milliseconds to make. */
const rank = (version: string): number => version.split('.').reduce((sum, part) => sum * 10_000 + Number(part), 0)
