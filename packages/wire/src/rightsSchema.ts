import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import { allRights, allRoles } from '../../../src/protocol/bridge/rights.ts'

export const rightSchema = lazily(() => z.enum(allRights))
export const roleSchema = lazily(() => z.enum(allRoles))
