import { homedir } from 'node:os'
import { join } from 'node:path'

/** The folder in which runs of the tests keep data for later ones: durations, and flaky cases. It is shared by all checkouts of a user. */
export const testCache = ({ XDG_CACHE_HOME: cache }: NodeJS.ProcessEnv = process.env): string =>
  join(cache ?? join(homedir(), '.cache'), 'escapement', 'tests')
