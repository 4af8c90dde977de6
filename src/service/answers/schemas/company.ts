import { map, number, text, texts, unseen } from './field.ts';

/** The fields of a company that a company saved by the team has as well. */
export const companyFields = {
  id: text,
  name: text,
  website_url: text,
  proflink_url: text,
  microblog_url: text,
  socialnet_url: text,
  logo_url: text,
  primary_domain: text,
  proflink_uid: text,
  blog_url: unseen,
  startupnet_url: unseen,
  companydb_url: unseen,
  publicly_traded_symbol: unseen,
  publicly_traded_exchange: unseen,
  primary_phone: map(),
  languages: texts,
  traffic_ranking: number,
  founded_year: number,
};
