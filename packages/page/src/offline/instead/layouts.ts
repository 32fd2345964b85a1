import { RuntimeError } from '../../../../../src/protocol/errors.ts'

const notBuilt = (): RuntimeError =>
  new RuntimeError(
    'FILE_MISSING',
    'This page has the pictures of the charts of agents, and none of this machine. A server of escapement lays it out.',
  )

/** In place of a thread of Node that lays graphs out. */
export const layoutInWorker = (): Promise<never> => Promise.reject(notBuilt())

/** In place of the worker that the inspector page has for it where there is a server. */
export const layoutChart = (): Promise<never> => Promise.reject(notBuilt())
