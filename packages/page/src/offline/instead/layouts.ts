import { RuntimeError } from '../../../../../src/protocol/errors.ts'

const notBuilt = (): RuntimeError =>
  new RuntimeError(
    'FILE_MISSING',
    'This page has the pictures of the charts of agents, and none of this machine. A server of escapement lays it out.',
  )

/** Stand-in for the thread of Node that lays out graphs. */
export const layoutInWorker = (): Promise<never> => Promise.reject(notBuilt())

/** Stand-in for the worker that lays out charts on the inspector page where there is a server. */
export const layoutChart = (): Promise<never> => Promise.reject(notBuilt())
