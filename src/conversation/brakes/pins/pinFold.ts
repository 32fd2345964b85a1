import { check } from '../../tree/corruptRecord.ts'
import type { BrakeFolds } from '../../tree/reshaped.ts'
import { wrongInPin } from './pins.ts'

export const pinFold: BrakeFolds<'pin.applied'> = {
  'pin.applied': (conversation, record) => {
    check(record, wrongInPin(record, conversation))
    conversation.annotate().pin(record)
  },
}
