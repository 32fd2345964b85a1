import { chance } from '../embedded/chance.ts'

/** How many messages a mailbox has: more than the window holds, or as many as it can just hold. */
export const mailCountOf = (taskId: string): number => (['unusual-name', 'pinned-rule'].includes(taskId) ? 24 : 36)

const senders = [
  'Ines Varga, yard office',
  'Tomasz Lind, workshop',
  'Aroha Pene, night watch',
  'Yusuf Demir, purchasing',
  'Marit Solheim, front desk',
  'Jonas Beck, ferry crew',
] as const

const subjects = [
  'The week so far',
  'Deliveries',
  'The crane',
  'Visitors',
  'Weather and tides',
  'Cleaning of the halls',
  'Training',
  'The old boiler',
] as const

/** Text that fills messages: true to life, and of no matter to any task. */
const filler = [
  'The painters are done with the long wall and begin with the doors tomorrow, if the rain holds off.',
  'Two pallets came in wet and were put aside in the small hall until somebody has looked at them.',
  'The new coffee machine is liked by everybody but those who have to clean it.',
  'Please park bicycles behind the shed, as lorries need the whole width of the drive.',
  'The crane was looked at and is fine; the rope will be changed in spring as planned.',
  'A class of schoolchildren visited and asked more questions than we had answers for.',
  'The tide was higher than forecast, but the pumps kept up without any trouble.',
  'Somebody left a grey jacket on the landing stage; it hangs at the front desk.',
  'The lamps along the quay are on a timer now, and go off an hour after the last boat.',
  'We are still waiting for the paint that was ordered three weeks ago.',
  'The boiler makes the noise again, though only in the mornings and not for long.',
  'Forklift training takes place on two afternoons; names are on the board.',
  'The forecast says wind from the west, so covers should be tied down before the weekend.',
  'The window in the stairwell has been mended, and the draught is gone.',
  'A seal was seen beside the pontoon for most of Tuesday and did not mind the noise.',
  'The printer on the first floor takes paper from the lower tray only.',
  'Lunch is half an hour later on Friday, since the kitchen gets its new stove.',
  'The ferry was late twice, once because of fog and once because of a wedding party.',
  'Whoever takes the handcart, please bring it back to where it was.',
  'The inspection of the fire extinguishers went well; three were replaced.',
  'The bulletin board has been cleared, and what was older than a year is in the box below it.',
  'The gulls have found out how the bins open, so please use the clips.',
  'Overtime of last month was counted and will be paid with the next wages.',
  'The gauge at the lower basin was cleaned and shows the right level again.',
] as const

/** So long is a message at least, in characters. */
const leastChars = 2_400

const pick = <T>(all: readonly T[], at: number): T => all[Math.floor(at * all.length)]!

/** The messages of a mailbox, in order; `facts` stand in the middle of those with their number, counted from 1. Pure. */
export function mailbox(taskId: string, facts: Readonly<Record<number, string>>): readonly string[] {
  const count = mailCountOf(taskId)
  return Array.from({ length: count }, (_, index) => {
    const dice = (...words: readonly (string | number)[]): number => chance(0, taskId, index, ...words)
    const sentences: string[] = []
    for (let at = 0, chars = 0; chars < leastChars; at++) {
      const sentence = pick(filler, dice('filler', at))
      sentences.push(sentence)
      chars += sentence.length + 1
    }
    const fact = facts[index + 1]
    if (fact !== undefined) sentences.splice(Math.floor(sentences.length / 2), 0, fact)
    const head = `Message ${index + 1} of ${count}\nFrom: ${pick(senders, dice('from'))}\nSubject: ${pick(subjects, dice('subject'))}`
    return `${head}\n\n${sentences.join(' ')}`
  })
}
