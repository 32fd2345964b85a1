import { estimateTokens, type TokenCounter } from '../../src/conversation/limits/tokenCounter.ts'

/** A defect that lets a machine crash so often: counting the tokens of a recorded result throws. */
export const crashingCounter = (left: { crashes: number } = { crashes: Infinity }): TokenCounter => ({
  ...estimateTokens,
  message: (message) => {
    // What is frozen comes from a record: the machine is in the middle of a step then.
    if (message.role === 'toolResult' && Object.isFrozen(message) && left.crashes > 0) {
      left.crashes -= 1
      throw new Error('a defect')
    }
    return estimateTokens.message(message)
  },
})
