import { homedir } from 'node:os'
import { join } from 'node:path'

/** The folder where runs of the tests keep what later ones go by: durations, and cases that were flaky. It is the user's, for all checkouts. */
export const testCache = ({ XDG_CACHE_HOME: cache }: NodeJS.ProcessEnv = process.env): string =>
  join(cache ?? join(homedir(), '.cache'), 'escapement', 'tests')
