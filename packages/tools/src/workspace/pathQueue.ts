import { inTurn as inTurnOf } from '../../../../src/actors/timing/inTurn.ts'

const paths = {}

/** Runs `work` after every earlier call for the same path: tool calls run in parallel, and two edits of one file must not overwrite each other. */
export const inTurn = <T>(path: string, work: () => Promise<T>): Promise<T> => inTurnOf(paths, path, work)
