import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import { allRights, allRoles } from './rights.ts'

export const rightSchema = lazily(() => z.enum(allRights))
export const roleSchema = lazily(() => z.enum(allRoles))
