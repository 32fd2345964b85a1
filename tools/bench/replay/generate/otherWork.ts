import type { Browsing, Chat } from './kinds.ts'
import { proseOf, sizeFrom } from './codebase.ts'
import { prose } from './project.ts'
import type { SessionWriter } from './sessionWriter.ts'

/** A customer asks, the agent looks up and answers. */
export function chatWork(writer: SessionWriter, { output }: Chat, replies: number): void {
  const { random } = writer
  const customer = `customer_${random.between(1_000, 9_999)}`
  while (writer.made < replies) {
    const order = `order_${random.between(10_000, 99_999)}`
    writer.prompt(`${proseOf(random, random.logNormal(25, 0.6))}: ${order}.`)
    for (let lookUps = random.between(1, 3); lookUps > 0 && writer.made < replies - 1; lookUps -= 1)
      writer.step(
        '',
        lookUps === 1
          ? ['find_customer', { customer }, `${customer}: ${proseOf(random, sizeFrom(random, output))}`]
          : ['find_order', { order }, `${order} of ${customer}: ${proseOf(random, sizeFrom(random, output))}`],
      )
    writer.answer(`${order}: ${proseOf(random, random.logNormal(60, 0.5))}.`)
  }
}

/** One task, page after page. */
export function browsingWork(writer: SessionWriter, { pages }: Browsing, replies: number): void {
  const { random } = writer
  const site = `https://shop${random.between(10, 99)}.example`
  let links = ['start/index']
  writer.prompt(`Find on ${site}: ${prose(random, random.between(15, 40))}.`)
  while (writer.made < replies - 1) {
    const link = random.pick(links)
    links = Array.from({ length: random.between(5, 20) }, () => `item_${random.between(1_000, 9_999)}/details`)
    const page = `${link}\n${links.join('\n')}\n${proseOf(random, sizeFrom(random, pages))}`
    writer.step(
      '',
      random.chance(0.5) ? ['open_page', { url: `${site}/${link}` }, page] : ['click', { element: link }, page],
    )
  }
  writer.answer(`It is ${random.pick(links)}. ${prose(random, 30)}.`)
}
