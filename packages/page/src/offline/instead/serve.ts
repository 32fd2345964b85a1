import { RuntimeError } from '../../../../../src/protocol/errors.ts'

/** Stand-in for the server: a page cannot listen. */
export const serve = (): Promise<never> =>
  Promise.reject(new RuntimeError('BRIDGE_LISTEN_FAILED', 'A page in a browser cannot listen: use runtime.connect().'))
